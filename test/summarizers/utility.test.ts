import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type GetSecretValueCommand, ResourceNotFoundException } from '@aws-sdk/client-secrets-manager';
import { createUtility, type UtilityConfig } from '../../lib/summarizers/index.ts';
import { secretKey } from '../../lib/summarizers/secret.ts';
import { pathOf, turnsOf } from '../support/conversation.ts';
import { type Scripted, startMessagesApi } from '../support/messages-api.ts';
import { acceptComplete } from '../support/summarizers.ts';

const messages = pathOf(turnsOf(4, 200));
const request = { messages, maxTokens: 200, accept: acceptComplete };

async function run(script: readonly Scripted[], config: Partial<UtilityConfig> = {}, signal?: AbortSignal) {
  const server = await startMessagesApi(script);
  const utility = createUtility({
    provider: 'auto',
    baseURL: server.url,
    apiKey: async () => undefined,
    ...config,
  });
  const result = await utility({ ...request, ...(signal === undefined ? {} : { signal }) });
  return { server, result };
}

describe('the configured utility role', () => {
  it('is extractive without a key and without a base URL', async () => {
    const utility = createUtility({ provider: 'auto', apiKey: async () => undefined });
    const { answer, usedFallback } = await utility(request);
    assert.deepEqual([answer.model, usedFallback], ['extractive', false]);
  });

  it('is extractive when that is asked for, whatever there is', async () => {
    const { server, result } = await run([{ text: 'notes' }], {
      provider: 'extractive',
      apiKey: async () => 'sk-x',
    });
    assert.deepEqual([result.answer.model, server.requests.length], ['extractive', 0]);
  });

  it('asks the model at a base URL', async () => {
    const { result } = await run([{ text: 'notes' }], { modelId: 'llama' });
    assert.deepEqual(
      [result.answer.text, result.answer.model, result.usedFallback],
      ['notes', 'llama', false],
    );
  });

  for (const [name, script] of [
    ['an overload', { status: 529, headers: { 'retry-after-ms': '1' } }],
    ['a wrong key', { status: 401 }],
    ['a refusal', { text: 'no', stop: 'refusal' }],
    ['a blank answer', { text: '' }],
    ['a reset connection', { reset: true }],
  ] as const) {
    it(`goes to the extractive fallback after ${name}`, async () => {
      const { result } = await run([script]);
      assert.deepEqual([result.answer.model, result.usedFallback], ['extractive', true]);
      assert.equal(result.attempts.length, 2);
    });
  }

  it('has a summary even when the model used up all the time that there was', async () => {
    const { result } = await run([{ hang: true }], {}, AbortSignal.timeout(60));
    assert.deepEqual(
      result.attempts.map(({ model, outcome }) => [model, outcome]).map(([, outcome]) => outcome),
      ['timeout', 'ok'],
    );
    assert.equal(result.answer.model, 'extractive');
  });

  it('takes a key that cannot be read now for one that is there: recorded, and the fallback helps', async () => {
    const utility = createUtility({
      provider: 'auto',
      apiKey: async () => {
        throw new Error('throttled');
      },
    });
    const { answer, usedFallback, attempts } = await utility(request);
    assert.deepEqual([answer.model, usedFallback], ['extractive', true]);
    assert.equal(attempts[0]?.outcome, 'model_key_unavailable');
  });

  it('summarizes in parts what a small model could not take at once', async () => {
    const { server, result } = await run([{ text: 'notes' }], { window: 1_700 });
    assert.equal(result.answer.text, 'notes');
    assert.ok(server.requests.length > 2);
    assert.match(server.requests.at(-1)?.messages[0]?.content ?? '', /<notes_1-/);
  });

  it('loads the SDK only when a model is called', async () => {
    const entry = fileURLToPath(new URL('../../lib/summarizers/index.ts', import.meta.url));
    const code = `
      import { registerHooks } from 'node:module';
      let loaded = 0;
      registerHooks({ load(url, context, next) { if (url.includes('@anthropic-ai')) loaded += 1; return next(url, context); } });
      const { createUtility } = await import(${JSON.stringify(entry)});
      const utility = createUtility({ provider: 'auto', baseURL: 'http://127.0.0.1:1', apiKey: async () => undefined });
      const before = loaded;
      await utility({ messages: ${JSON.stringify(messages)}, maxTokens: 100, accept: () => ({ ok: true }) });
      console.log(JSON.stringify([before, loaded > 0]));`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', code]);
    assert.deepEqual(JSON.parse(stdout), [0, true]);
  });
});

/** As much of the Secrets Manager client as is called. */
function secrets(...values: (string | undefined | Error)[]) {
  const asked: (string | undefined)[] = [];
  const send = async (command: GetSecretValueCommand) => {
    asked.push(command.input.SecretId);
    const value = values[Math.min(asked.length, values.length) - 1];
    if (value instanceof Error) throw value;
    return { SecretString: value };
  };
  return { client: { send } as unknown as Parameters<typeof secretKey>[0], asked };
}

describe('the key in a secret', () => {
  it('is read once, and anew when a fresh one is asked for', async () => {
    const { client, asked } = secrets(' sk-first \n', 'sk-second');
    const key = secretKey(client, 'arn');
    assert.deepEqual(await Promise.all([key(), key()]), ['sk-first', 'sk-first']);
    assert.equal(await key(), 'sk-first');
    assert.deepEqual(asked, ['arn']);
    assert.equal(await key({ fresh: true }), 'sk-second');
    assert.equal(await key(), 'sk-second');
    assert.equal(asked.length, 2);
  });

  it('is found by the next call once it is put in', async () => {
    const missing = new ResourceNotFoundException({ message: 'no value', $metadata: {} });
    const { client } = secrets(missing, '', 'token-abc-123');
    const key = secretKey(client, 'arn');
    assert.deepEqual([await key(), await key(), await key()], [undefined, undefined, 'token-abc-123']);
  });

  for (const value of [
    '',
    '  ',
    'placeholder',
    'PLACEHOLDER-value',
    'change-me',
    'your-api-key',
    'none',
    '{"key":"sk-abcdefgh"}',
    'put the key here',
    undefined,
  ])
    it(`there is none in ${JSON.stringify(value)}`, async () => {
      assert.equal(await secretKey(secrets(value).client, 'arn')(), undefined);
    });

  it('a read that failed is told and tried again', async () => {
    const key = secretKey(secrets(new Error('throttled'), 'sk-abcdefgh').client, 'arn');
    await assert.rejects(key(), /throttled/);
    assert.equal(await key(), 'sk-abcdefgh');
  });
});
