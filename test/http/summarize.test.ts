import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import * as z from 'zod';
import { createConsume } from '../../lib/compaction/consume.ts';
import { SummarizerError } from '../../lib/errors.ts';
import { createApp } from '../../lib/http/app.ts';
import type { CompactionMessage, CompactionQueue } from '../../lib/ports.ts';
import type { UtilityRole } from '../../lib/summarizers/summarizer.ts';
import { newId } from '../../lib/treepath/ids.ts';
import { startApi } from '../support/api.ts';
import { startEngine, startStore, type TestStore } from '../support/dynamo.ts';

const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const env = { event: { requestContext: { authorizer: { jwt: { claims: { sub: 'ann' } } } } } };

let store: TestStore;
before(async () => {
  store = await startStore(await startEngine());
});

/** A channel of eight turns; each message has about 400 characters unless told. */
async function talk(chars = 400): Promise<{ id: string; messageIds: string[] }> {
  const { id } = await store.createChannel({ ownerId: 'ann', title: 't', type: 'direct', settings: {} });
  const messageIds: string[] = [];
  for (let index = 0; index < 16; index += 1) {
    const role = index % 2 === 0 ? 'user' : 'assistant';
    const content = `Order A-${index} ships from /depot/${index} on day ${index}. `.repeat(
      Math.ceil(chars / 45),
    );
    const { message } = await store.append({ channelId: id, userId: 'ann', role, content });
    messageIds.push(message.id);
  }
  return { id, messageIds };
}

/** What these tests read of an answer. */
const reply = z.object({
  id: z.string().optional(),
  code: z.string().optional(),
  status: z.union([z.string(), z.number()]).optional(),
  summarized_count: z.int().optional(),
  result: z.object({ summary_id: z.string(), summarized_count: z.int(), model: z.string() }).optional(),
  error: z.object({ code: z.string(), message: z.string() }).optional(),
});

type Parts = { readonly utility?: UtilityRole; readonly queueDown?: boolean };

const failing = (failure: SummarizerError): Parts => ({ utility: () => Promise.reject(failure) });

/** The real app, store and engine; another model and a queue that is down where a test asks for it. */
function serve({ utility, queueDown = false }: Parts = {}) {
  const { compact } = startApi(store, utility);
  const sent: CompactionMessage[] = [];
  const queue: CompactionQueue = {
    send: async (messages) => {
      sent.push(...messages);
      return queueDown ? messages : [];
    },
  };
  const app = createApp({
    store,
    compact,
    queue,
    logger,
    adminGroup: 'admin',
    clock: () => store.now,
    newId: () => newId(store.now),
  });
  async function call(method: string, path: string, body?: object, headers = {}) {
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    const response = await app.request(path, init, env);
    return { status: response.status, headers: response.headers, json: reply.parse(await response.json()) };
  }
  const consume = createConsume({ compact, jobs: store, clock: () => store.now, logger });
  const work = (message: CompactionMessage) =>
    consume(message, { receiveCount: 1, deadline: store.now + 60_000 });
  return { call, sent, work };
}

describe('summarize', () => {
  it('covers up to the turn that the caller names', async () => {
    const { id, messageIds } = await talk();
    const { call } = serve();
    const { status, json } = await call('POST', `/channels/${id}/summarize`, { until: messageIds[7] });
    assert.deepEqual([status, json.summarized_count], [200, 8]);
    const again = await call('POST', `/channels/${id}/summarize`, { until: messageIds[0] });
    assert.deepEqual([again.status, again.json.code], [422, 'until_not_in_context']);
  });

  it('never queues what a queued request cannot say', async () => {
    const { id, messageIds } = await talk();
    const { call, sent } = serve();
    const body = { until: messageIds[7], instructions: 'Keep the order numbers.' };
    const { status } = await call('POST', `/channels/${id}/summarize`, body, { prefer: 'respond-async' });
    assert.deepEqual([status, sent.length], [200, 0]);
  });

  it('queues a context that may take longer than the gateway waits', async () => {
    const { id } = await talk(20_000);
    const { call, sent } = serve();
    const { status, headers, json } = await call('POST', `/channels/${id}/summarize`);
    assert.deepEqual([status, json.status, sent.length], [202, 'queued', 1]);
    assert.equal(headers.get('location'), `/channels/${id}/compactions/${json.id}`);
  });

  for (const code of ['timeout', 'aborted'])
    it(`queues what took too long (${code}), and the job tells its result`, async () => {
      const { id } = await talk();
      const slow = new SummarizerError(code, 'The time was up.', { retryable: true });
      const { call, sent } = serve(failing(slow));
      const { status, headers } = await call('POST', `/channels/${id}/summarize`);
      assert.equal(status, 202);
      const location = headers.get('location') ?? '';
      assert.equal((await call('GET', location)).json.status, 'queued');

      const [message] = sent;
      assert.ok(message);
      await serve().work(message);
      const job = await call('GET', location);
      assert.deepEqual(
        [job.json.status, job.json.result?.summarized_count, job.json.result?.model],
        ['done', 12, 'extractive'],
      );
      assert.equal((await store.readContext(id, 'ann')).summary?.id, job.json.result?.summary_id);
    });

  it('a job that could not be done says why, with the codes of the API', async () => {
    const { id } = await store.createChannel({ ownerId: 'ann', title: 't', type: 'direct', settings: {} });
    const { call, sent, work } = serve();
    const { headers } = await call('POST', `/channels/${id}/summarize`, undefined, {
      Prefer: 'wait=5, Respond-Async',
    });
    const [message] = sent;
    assert.ok(message);
    await work(message);
    const { json } = await call('GET', headers.get('location') ?? '');
    assert.deepEqual([json.status, json.error?.code], ['failed', 'not_enough_messages']);
  });

  it('a queue that is down is 503, and its job does not wait for ever', async () => {
    const { id } = await talk();
    const { call, sent } = serve({ queueDown: true });
    const { status, headers, json } = await call('POST', `/channels/${id}/summarize`, undefined, {
      prefer: 'respond-async',
    });
    assert.deepEqual([status, json.code, headers.get('retry-after')], [503, 'queue_unavailable', '5']);
    const job = await call('GET', `/channels/${id}/compactions/${sent[0]?.job_id}`);
    assert.deepEqual([job.json.status, job.json.error?.code], ['failed', 'queue_unavailable']);
  });

  it('invariant 8: a model that fails leaves the conversation as it was', async () => {
    const cases: [SummarizerError, number, string | null][] = [
      [new SummarizerError('summary_refused', 'No answer could be used.'), 502, null],
      [
        new SummarizerError('overloaded', 'The model provider is overloaded.', {
          retryable: true,
          details: { retryAfterSeconds: 30 },
        }),
        503,
        '30',
      ],
    ];
    for (const [failure, status, retryAfter] of cases) {
      const { id } = await talk();
      const before = await store.readContext(id, 'ann');
      const refused = await serve(failing(failure)).call('POST', `/channels/${id}/summarize`);
      assert.deepEqual(
        [refused.status, refused.json.code, refused.headers.get('retry-after')],
        [status, failure.code, retryAfter],
      );
      assert.deepEqual(await store.readContext(id, 'ann'), before);
    }
  });

  it('a conversation that went elsewhere while the model worked is 409', async () => {
    const { id, messageIds } = await talk();
    const [first] = messageIds;
    assert.ok(first);
    const elsewhere: UtilityRole = async () => {
      await store.append({
        channelId: id,
        userId: 'ann',
        role: 'user',
        content: 'b',
        parentId: first,
        branch: true,
      });
      const answer = {
        text: 'Orders.',
        model: 'm',
        stop: 'complete' as const,
        inputTokens: 1,
        outputTokens: 1,
      };
      return { answer, usedFallback: false, promptVersion: 'v', attempts: [] };
    };
    const moved = await serve({ utility: elsewhere }).call('POST', `/channels/${id}/summarize`);
    assert.deepEqual(
      [moved.status, moved.json.code, moved.headers.get('retry-after')],
      [409, 'conversation_moved', '5'],
    );
    assert.equal((await store.readContext(id, 'ann')).summary, undefined);
  });
});
