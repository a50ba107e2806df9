import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { SummarizerError } from '../../lib/errors.ts';
import { DEFAULT_MODEL_ID } from '../../lib/settings/models.ts';
import { createAnthropicSummarizer } from '../../lib/summarizers/anthropic.ts';
import { pathOf, turnsOf } from '../support/conversation.ts';
import { type Scripted, startMessagesApi } from '../support/messages-api.ts';

const KEY = 'sk-very-secret';
const messages = pathOf(turnsOf(2));

async function ask(script: readonly Scripted[], options: { timeoutMs?: number; signal?: AbortSignal } = {}) {
  const server = await startMessagesApi(script);
  const summarizer = createAnthropicSummarizer({
    apiKey: async () => KEY,
    model: 'claude-x',
    baseURL: server.url,
    ...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }),
  });
  const answer = summarizer.summarize({
    messages,
    maxTokens: 500,
    ...(options.signal ? { signal: options.signal } : {}),
  });
  return { server, answer };
}

describe('the Messages API', () => {
  it('sends the transcript with the instruction after it, and reads text, usage and stop reason', async () => {
    const { server, answer } = await ask([{ text: ' notes ' }]);
    assert.deepEqual(await answer, {
      text: 'notes',
      model: 'claude-x',
      inputTokens: 1_000,
      outputTokens: 50,
      stop: 'complete',
    });
    const [request] = server.requests;
    const user = request?.messages[0]?.content ?? '';
    assert.ok(user.indexOf('question 1') < user.lastIndexOf('Write the notes'));
    assert.equal(request?.model, 'claude-x');
    assert.deepEqual(server.keys, [`Bearer ${KEY}`]);
  });

  it('tells a cut-off answer and a refusal', async () => {
    assert.equal((await (await ask([{ text: 'half', stop: 'max_tokens' }])).answer).stop, 'cut_off');
    assert.equal((await (await ask([{ text: 'no', stop: 'refusal' }])).answer).stop, 'refusal');
    assert.equal((await (await ask([{ text: '' }])).answer).text, '');
  });

  const aborted = (): AbortSignal => AbortSignal.timeout(50);
  for (const [name, script, code, retryable, signal] of [
    ['429 is a rate limit', { status: 429, headers: { 'retry-after': '0' } }, 'rate_limited', true],
    ['529 is an overload', { status: 529, headers: { 'retry-after-ms': '1' } }, 'overloaded', true],
    ['500 is an overload', { status: 500, headers: { 'retry-after-ms': '1' } }, 'overloaded', true],
    ['401 is a wrong key', { status: 401 }, 'model_auth', false],
    ['404 is an unknown model', { status: 404 }, 'model_not_found', false],
    ['400 is a rejected request', { status: 400 }, 'model_rejected', false],
    ['a reset connection is the network', { reset: true }, 'network', true],
    ['a reply of another shape is malformed', { raw: '{"hello": 1}' }, 'malformed_reply', true],
    ['no answer in time is a timeout', { hang: true }, 'timeout', true, aborted],
  ] as const) {
    it(name, async () => {
      const { answer } = await ask([script as Scripted], signal ? { signal: signal() } : {});
      await assert.rejects(answer, (error) => {
        assert.ok(error instanceof SummarizerError, String(error));
        assert.deepEqual([error.code, error.retryable], [code, retryable]);
        const told = JSON.stringify([error.message, error.cause, error.details]);
        assert.ok(!told.includes(KEY) && !told.includes('secret detail') && !told.includes('question'), told);
        return true;
      });
    });
  }

  it('an answer after one failure is an answer', async () => {
    const { server, answer } = await ask([
      { status: 529, headers: { 'retry-after-ms': '1' } },
      { text: 'notes' },
    ]);
    assert.equal((await answer).text, 'notes');
    assert.equal(server.requests.length, 2);
  });

  it("the default model is in the SDK's list and not deprecated there", async () => {
    const sdk = dirname(createRequire(import.meta.url).resolve('@anthropic-ai/sdk'));
    const [deprecated, types] = await Promise.all([
      readFile(join(sdk, 'internal/data/deprecated-models.js'), 'utf8'),
      readFile(join(sdk, 'resources/messages/messages.d.ts'), 'utf8'),
    ]);
    assert.ok(types.includes(`'${DEFAULT_MODEL_ID}'`));
    assert.match(deprecated, /DEPRECATED_MODELS/);
    assert.ok(!deprecated.includes(`'${DEFAULT_MODEL_ID}'`));
  });
});
