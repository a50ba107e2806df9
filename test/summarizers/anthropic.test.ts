import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { SummarizerError } from '../../lib/errors.ts';
import { DEFAULT_MODEL_ID, utilityWindow } from '../../lib/settings/models.ts';
import { type AnthropicOptions, createAnthropicSummarizer } from '../../lib/summarizers/anthropic.ts';
import { pathOf, turnsOf } from '../support/conversation.ts';
import { type Scripted, startMessagesApi } from '../support/messages-api.ts';

const KEY = 'sk-very-secret';
const messages = pathOf(turnsOf(2));
const request = { messages, maxTokens: 500 };
/** The SDK's own wait between two tries, made short. */
const soon = { 'retry-after-ms': '1' };

async function withServer(script: readonly Scripted[], options: Partial<AnthropicOptions> = {}) {
  const server = await startMessagesApi(script);
  const summarizer = createAnthropicSummarizer({
    apiKey: async () => KEY,
    model: 'claude-x',
    baseURL: server.url,
    ...options,
  });
  return { server, summarizer };
}

async function answerTo(script: Scripted, options: Partial<AnthropicOptions> = {}) {
  const { summarizer } = await withServer([script], options);
  return summarizer.summarize(request);
}

async function failureOf(
  script: readonly Scripted[],
  options: Partial<AnthropicOptions> = {},
  signal?: AbortSignal,
) {
  const { server, summarizer } = await withServer(script, options);
  const error = await summarizer
    .summarize({ ...request, ...(signal === undefined ? {} : { signal }) })
    .catch((reason: unknown) => reason);
  assert.ok(error instanceof SummarizerError, String(error));
  return { error, server };
}

describe('the Messages API', () => {
  it('sends the prompt with the key, and reads text, usage and stop reason', async () => {
    const { server, summarizer } = await withServer([{ text: ' notes ' }]);
    assert.deepEqual(await summarizer.summarize(request), {
      text: 'notes',
      model: 'claude-x',
      inputTokens: 1_000,
      outputTokens: 50,
      stop: 'complete',
    });
    const [sent] = server.requests;
    const user = sent?.messages[0]?.content ?? '';
    assert.ok(user.indexOf('question 1') < user.lastIndexOf('Write the notes'));
    assert.deepEqual([sent?.model, sent?.messages.length, sent?.max_tokens], ['claude-x', 1, 500 + 4_096]);
    assert.ok(!Object.hasOwn(sent ?? {}, 'temperature'), 'newer models refuse it');
    assert.deepEqual(server.keys, [`Bearer ${KEY}`]);
  });

  it('sends a temperature only when one is given', async () => {
    const { server, summarizer } = await withServer([{ text: 'notes' }], { temperature: 0.3 });
    await summarizer.summarize(request);
    assert.equal(server.requests[0]?.temperature, 0.3);
  });

  it('takes base URLs as the guides of compatible servers give them', async () => {
    for (const suffix of ['', '/', '/v1', '/v1/']) {
      const server = await startMessagesApi([{ text: 'notes' }]);
      const options = { apiKey: async () => undefined, model: 'm', baseURL: `${server.url}${suffix}` };
      await createAnthropicSummarizer(options).summarize(request);
      assert.deepEqual(server.paths, ['/v1/messages'], suffix);
    }
  });

  it('fits answer and transcript into the window of the model', async () => {
    const { server, summarizer } = await withServer([{ text: 'notes' }], { window: 8_000 });
    await summarizer.summarize(request);
    const answer = server.requests[0]?.max_tokens ?? 0;
    // A third more than estimated still fits beside the answer.
    assert.ok(summarizer.window * 1.33 + answer <= 8_000);
    assert.ok(summarizer.window > 4_000);
    assert.ok(utilityWindow('claude-x') > utilityWindow('llama'), 'an unknown model is trusted with less');
  });

  for (const [stop, expected] of [
    ['end_turn', 'complete'],
    ['stop_sequence', 'complete'],
    ['max_tokens', 'cut_off'],
    ['model_context_window_exceeded', 'cut_off'],
    ['pause_turn', 'cut_off'],
    ['something_new', 'cut_off'],
    [null, 'cut_off'],
    ['refusal', 'refusal'],
  ] as const) {
    it(`stop reason ${stop} is ${expected}`, async () => {
      assert.equal((await answerTo({ text: 'notes', stop })).stop, expected);
    });
  }

  it('leaves a blank answer blank', async () => {
    assert.equal((await answerTo({ text: ' \n' })).text, '');
  });

  it('leaves out what an open model thinks aloud', async () => {
    assert.equal(
      (await answerTo({ text: '<think>\nhm\n</think>\n\nnotes on <think>' })).text,
      'notes on <think>',
    );
  });

  it('counts cached input too', async () => {
    const usage = {
      input_tokens: 1,
      cache_creation_input_tokens: 20,
      cache_read_input_tokens: 300,
      output_tokens: 5,
    };
    assert.equal((await answerTo({ text: 'notes', usage })).inputTokens, 321);
  });

  for (const [name, script, code, retryable, tries] of [
    ['429', { status: 429, headers: soon }, 'rate_limited', true, 2],
    ['529', { status: 529, headers: soon }, 'overloaded', true, 2],
    ['500', { status: 500, headers: soon }, 'overloaded', true, 2],
    ['503', { status: 503, headers: soon }, 'overloaded', true, 2],
    ['409', { status: 409, headers: soon }, 'overloaded', true, 2],
    ['408', { status: 408, headers: soon }, 'timeout', true, 2],
    ['504', { status: 504, headers: soon }, 'timeout', true, 2],
    ['400', { status: 400 }, 'model_rejected', false, 1],
    ['401', { status: 401 }, 'model_auth', false, 1],
    ['402', { status: 402 }, 'model_rejected', false, 1],
    ['403', { status: 403 }, 'model_auth', false, 1],
    ['404', { status: 404 }, 'model_not_found', false, 1],
    ['413', { status: 413 }, 'model_rejected', false, 1],
    ['422', { status: 422 }, 'model_rejected', false, 1],
    ['a reset connection', { reset: true }, 'network', true, 2],
    ['JSON of another shape', { raw: '{"hello": 1}' }, 'malformed_reply', true, 1],
    ['truncated JSON', { raw: '{"content": [{"type"' }, 'malformed_reply', true, 1],
    ["a proxy's page", { raw: '<html>hi</html>', contentType: 'text/html' }, 'malformed_reply', true, 1],
    ['an empty reply', { raw: '' }, 'malformed_reply', true, 1],
  ] as const) {
    it(`${name}: ${code}, ${retryable ? 'may pass' : 'for good'}, told without key and content`, async () => {
      const { error, server } = await failureOf([script]);
      assert.deepEqual([error.code, error.retryable], [code, retryable]);
      assert.equal(server.requests.length, tries);
      const told = JSON.stringify([error.message, String(error.cause), error.details]);
      assert.ok(!told.includes(KEY) && !told.includes('secret detail') && !told.includes('question'), told);
    });
  }

  it('an address where nothing listens is the network', async () => {
    const summarizer = createAnthropicSummarizer({
      apiKey: async () => KEY,
      model: 'm',
      baseURL: 'http://127.0.0.1:1',
    });
    await assert.rejects(summarizer.summarize(request), { code: 'network', retryable: true });
  });

  for (const script of [{ hang: true }, { stall: true }] as const) {
    const kind = Object.keys(script)[0];
    it(`no answer in time (${kind}) is a timeout, by the own limit or the caller's`, async () => {
      const own = await failureOf([script], { timeoutMs: 60 });
      assert.deepEqual([own.error.code, own.error.retryable], ['timeout', true]);
      const both = await failureOf([script], { timeoutMs: 60 }, new AbortController().signal);
      assert.equal(both.error.code, 'timeout');
      const callers = await failureOf([script], {}, AbortSignal.timeout(60));
      assert.deepEqual([callers.error.code, callers.error.retryable], ['timeout', true]);
    });
  }

  it('the limit is for the call and its retry together', async () => {
    const { error, server } = await failureOf(
      [{ status: 529, headers: { 'retry-after-ms': '1' } }, { hang: true }],
      {
        timeoutMs: 150,
      },
    );
    assert.equal(error.code, 'timeout');
    assert.equal(server.requests.length, 2);
  });

  it('a wait that the provider asks for is told, and a long one is not sat out', async () => {
    const { error, server } = await failureOf([{ status: 429, headers: { 'retry-after': '3600' } }]);
    assert.deepEqual([error.code, error.details.retryAfterSeconds], ['rate_limited', 3_600]);
    assert.equal(server.requests.length, 1);
    const dated = await failureOf([
      { status: 429, headers: { 'retry-after': 'Wed, 21 Oct 2099 07:28:00 GMT' } },
    ]);
    assert.deepEqual([dated.error.code, dated.error.details.retryAfterSeconds], ['rate_limited', undefined]);
    assert.equal(dated.server.requests.length, 1);
  });

  it('an answer after one failure is an answer', async () => {
    const { server, summarizer } = await withServer([{ status: 529, headers: soon }, { text: 'notes' }]);
    assert.equal((await summarizer.summarize(request)).text, 'notes');
    assert.equal(server.requests.length, 2);
  });

  it('a key that could not be read is a failure that passes, and is read again by the next call', async () => {
    let reads = 0;
    const apiKey = async () => {
      reads += 1;
      if (reads === 1) throw new Error(`throttled while reading ${KEY}`);
      return KEY;
    };
    const { summarizer } = await withServer([{ text: 'notes' }], { apiKey });
    await assert.rejects(summarizer.summarize(request), (error) => {
      assert.ok(error instanceof SummarizerError);
      assert.deepEqual([error.code, error.retryable], ['model_key_unavailable', true]);
      assert.ok(!String(error.cause).includes(KEY));
      return true;
    });
    assert.equal((await summarizer.summarize(request)).text, 'notes');
    await summarizer.summarize(request);
    assert.equal(reads, 2, 'a key that was read is kept');
  });

  it('a refused key is asked for anew, so that a rotated one is found', async () => {
    const asked: unknown[] = [];
    const apiKey: AnthropicOptions['apiKey'] = async (options) => {
      asked.push(options?.fresh);
      return options?.fresh ? 'sk-new' : 'sk-old';
    };
    const { server, summarizer } = await withServer([{ status: 401 }, { text: 'notes' }], { apiKey });
    await assert.rejects(summarizer.summarize(request), { code: 'model_auth' });
    assert.equal((await summarizer.summarize(request)).text, 'notes');
    assert.deepEqual(asked, [false, true]);
    assert.deepEqual(server.keys, ['Bearer sk-old', 'Bearer sk-new']);
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
