import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { startApi } from '../support/api.ts';
import { startEngine, startStore, type TestStore } from '../support/dynamo.ts';

let store: TestStore;
let api: ReturnType<typeof startApi>;
before(async () => {
  store = await startStore(await startEngine());
  api = startApi(store);
});

const ann = (...args: Parameters<ReturnType<typeof api.as>>) => api.as({ sub: 'ann' })(...args);
const admin = (...args: Parameters<ReturnType<typeof api.as>>) =>
  api.as({ sub: 'root', 'cognito:groups': '[admin]' })(...args);

async function channel(): Promise<string> {
  return (await ann('POST', '/channels', { title: 'a talk' })).json.id;
}

const say = (id: string, role: string, content: unknown, more: object = {}, headers = {}) =>
  ann('POST', `/channels/${id}/messages`, { role, content, ...more }, headers);

async function talk(id: string, turns: number, chars = 400): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) {
    await say(id, 'user', `Question ${turn}: what about item ${turn * 17}? `.repeat(Math.ceil(chars / 40)));
    await say(
      id,
      'assistant',
      `Answer ${turn}: item ${turn * 17} is in /srv/data/${turn}. `.repeat(Math.ceil(chars / 40)),
    );
  }
}

describe('channels', () => {
  it('creates, reads, changes, lists and deletes', async () => {
    const created = await ann('POST', '/channels', {
      title: 't',
      model: 'm',
      settings: { compaction_threshold: 0.5 },
    });
    assert.equal(created.status, 201);
    assert.equal(created.headers.get('location'), `/channels/${created.json.id}`);
    assert.deepEqual(created.json.settings, { compaction_threshold: 0.5 });
    const changed = await ann('PATCH', `/channels/${created.json.id}`, {
      archived: true,
      model: null,
      settings: { compaction_threshold: null },
    });
    assert.deepEqual([changed.json.archived, changed.json.model, changed.json.settings], [true, null, {}]);
    assert.ok(
      (await ann('GET', '/channels')).json.channels.some((c: { id: string }) => c.id === created.json.id),
    );
    assert.equal((await ann('DELETE', `/channels/${created.json.id}`)).status, 204);
    assert.equal((await ann('GET', `/channels/${created.json.id}`)).status, 404);
  });

  it("another person's channel is not found; a team's is its members'", async () => {
    const id = await channel();
    const foreign = await api.as({ sub: 'bob' })('GET', `/channels/${id}/context`);
    assert.deepEqual([foreign.status, foreign.json.code], [404, 'channel_not_found']);
    const member = api.as({ sub: 'carl', teams: '[red blue]' });
    const shared = await member('POST', '/channels', { title: 'team', team_id: 'red' });
    assert.equal(
      (await api.as({ sub: 'dora', teams: ['red'] })('GET', `/channels/${shared.json.id}`)).status,
      200,
    );
    assert.equal((await ann('GET', `/channels/${shared.json.id}`)).status, 404);
    assert.equal((await ann('POST', '/channels', { title: 'x', team_id: 'red' })).json.code, 'not_in_team');
  });

  it('imports a tree with branches, and nothing of a broken one', async () => {
    const messages = [
      { ref: 'a', parent_ref: null, role: 'user', content: 'q' },
      { ref: 'b', parent_ref: 'a', role: 'assistant', content: 'first' },
      { ref: 'c', parent_ref: 'a', role: 'assistant', content: 'second' },
    ];
    const ok = await ann('POST', '/channels/import', { title: 'i', messages, current_ref: 'b' });
    assert.equal(ok.status, 201);
    const path = await ann('GET', `/channels/${ok.json.id}/path`);
    assert.deepEqual(
      path.json.messages.map((m: any) => [m.content, m.sibling_count, m.metadata.source_id]),
      [
        ['q', 1, 'a'],
        ['first', 2, 'b'],
      ],
    );

    const count = (await ann('GET', '/channels')).json.channels.length;
    const broken = [
      [[...messages, { ref: 'a', parent_ref: null, role: 'user', content: 'x' }], 'duplicate_ref'],
      [[{ ref: 'x', parent_ref: 'nobody', role: 'user', content: 'x' }], 'unknown_parent'],
      [
        [
          { ref: 'x', parent_ref: 'y', role: 'user', content: 'x' },
          { ref: 'y', parent_ref: 'x', role: 'user', content: 'y' },
        ],
        'cycle',
      ],
    ] as const;
    for (const [bad, code] of broken) {
      const refused = await ann('POST', '/channels/import', { title: 'i', messages: bad, current_ref: null });
      assert.deepEqual([refused.status, refused.json.code], [422, code]);
    }
    assert.equal((await ann('GET', '/channels')).json.channels.length, count);
  });
});

describe('messages', () => {
  it('appends once per Idempotency-Key', async () => {
    const id = await channel();
    const first = await say(id, 'user', 'q', {}, { 'idempotency-key': 'k1' });
    const again = await say(id, 'user', 'q', {}, { 'idempotency-key': 'k1' });
    assert.deepEqual(
      [again.status, again.json.id, again.headers.get('idempotent-replay')],
      [201, first.json.id, 'true'],
    );
    const other = await say(id, 'user', 'other', {}, { 'idempotency-key': 'k1' });
    assert.deepEqual([other.status, other.json.code], [409, 'idempotency_key_reused']);
  });

  it('branches, shows siblings, switches', async () => {
    const id = await channel();
    const question = await say(id, 'user', 'q');
    const one = await say(id, 'assistant', 'one');
    const two = await say(id, 'assistant', 'two', { parent_id: question.json.id, branch: true });
    assert.equal(two.json.sibling_index, 1);
    const siblings = await ann('GET', `/channels/${id}/messages/${one.json.id}/siblings`);
    assert.deepEqual(
      siblings.json.messages.map((m: any) => m.content),
      ['one', 'two'],
    );
    await ann('PUT', `/channels/${id}/cursor`, { message_id: one.json.id });
    const context = await ann('GET', `/channels/${id}/context`);
    assert.deepEqual(
      context.json.messages.map((m: any) => m.content),
      ['q', 'one'],
    );
  });

  it('keeps blocks as they are', async () => {
    const id = await channel();
    const content = [
      { type: 'text', text: 'look' },
      { type: 'tool_use', id: 't1', name: 'search', input: { q: [1, { deep: null }] } },
    ];
    await say(id, 'assistant', content);
    assert.deepEqual((await ann('GET', `/channels/${id}/context`)).json.messages[0].content, content);
  });
});

describe('compaction', () => {
  it('A5: summarizes by hand, undoes, redoes; pressure tells before and after', async () => {
    const id = await channel();
    await talk(id, 8);
    const before = await ann('GET', `/channels/${id}/pressure`);
    assert.deepEqual(
      [before.json.budget, before.json.budget_source, before.json.threshold],
      [128_000, 'default', 0.7],
    );
    assert.deepEqual([before.json.would_summarize, before.json.would_keep], [12, 4]);
    const result = await ann('POST', `/channels/${id}/summarize`);
    assert.equal(result.status, 200, JSON.stringify(result.json));
    assert.deepEqual(Object.keys(result.json).sort(), [
      'content',
      'input_tokens',
      'model',
      'output_tokens',
      'summarized_count',
      'summary_id',
      'used_fallback',
    ]);
    assert.equal(result.json.summarized_count, 12);
    const context = await ann('GET', `/channels/${id}/context`);
    const [summary] = context.json.messages;
    assert.deepEqual(
      [summary.id, summary.metadata.type, summary.metadata.trigger, context.json.messages.length],
      [result.json.summary_id, 'summary', 'manual', 5],
    );
    assert.ok((await ann('GET', `/channels/${id}/pressure`)).json.tokens < before.json.tokens);
    assert.equal((await ann('POST', `/channels/${id}/undo`)).json.tokens, before.json.tokens);
    assert.equal((await ann('POST', `/channels/${id}/redo`)).json.leaf_id, result.json.summary_id);
    assert.equal((await ann('POST', `/channels/${id}/redo`)).json.code, 'nothing_to_redo');
  });

  it('A6: too few messages is 422', async () => {
    const id = await channel();
    await say(id, 'user', 'q');
    const refused = await ann('POST', `/channels/${id}/summarize`);
    assert.deepEqual([refused.status, refused.json.code], [422, 'not_enough_messages']);
    assert.equal(refused.headers.get('content-type'), 'application/problem+json');
  });

  it('queues on request and tells where to look', async () => {
    const id = await channel();
    await talk(id, 4);
    const accepted = await ann('POST', `/channels/${id}/summarize`, undefined, { prefer: 'respond-async' });
    assert.equal(accepted.status, 202);
    assert.equal(api.sent.at(-1)?.job_id, accepted.json.id);
    const job = await ann('GET', accepted.headers.get('location') ?? '');
    assert.deepEqual([job.status, job.json.status], [200, 'queued']);
    assert.equal((await ann('GET', `/channels/${id}/compactions/none`)).json.code, 'compaction_not_found');
  });

  it('a running compaction is 409 with Retry-After; the rate limit is 429', async () => {
    const id = await channel();
    await talk(id, 4);
    const lease = await store.acquireLease(id, 'someone', { now: store.now, leaseMs: 60_000 });
    const busy = await ann('POST', `/channels/${id}/summarize`);
    assert.deepEqual(
      [busy.status, busy.json.code, busy.headers.get('retry-after')],
      [409, 'compaction_running', '5'],
    );
    if (lease) await store.endLease(lease, { kind: 'released' }, []);
    await admin('PUT', '/admin/settings/utility_rate_limit', { value: 1 });
    await store.take('manual', 1, store.now);
    const limited = await ann('POST', `/channels/${id}/summarize`);
    assert.deepEqual(
      [limited.status, limited.json.code, Number(limited.headers.get('retry-after')) > 0],
      [429, 'rate_limited', true],
    );
    await admin('PUT', '/admin/settings/utility_rate_limit', { value: 0 });
  });
});

describe('administration', () => {
  it('A27: reads and writes settings, audited, for administrators only', async () => {
    assert.deepEqual((await ann('GET', '/admin/settings')).json.code, 'admin_only');
    assert.equal((await ann('PUT', '/admin/settings/auto_compaction_enabled', { value: true })).status, 403);
    assert.equal(
      (await admin('PUT', '/admin/settings/auto_compaction_threshold', { value: 0.6 })).status,
      200,
    );
    assert.equal((await admin('GET', '/admin/settings')).json.auto_compaction_threshold, 0.6);
    assert.equal((await admin('GET', '/admin/settings/auto_compaction_threshold')).json.value, 0.6);
    assert.deepEqual(
      [
        (await admin('PUT', '/admin/settings/nope', { value: 1 })).status,
        (await admin('GET', '/admin/settings/nope')).status,
      ],
      [404, 404],
    );
    const wrong = await admin('PUT', '/admin/settings/auto_compaction_threshold', { value: 70 });
    assert.deepEqual([wrong.status, /above 0 and at most 1/.test(wrong.json.detail)], [422, true]);
    assert.equal((await admin('PUT', '/admin/models/m', { max_context: 32_000 })).status, 200);
    assert.equal((await admin('GET', '/admin/models')).json.models.m, 32_000);
    const { audit } = (
      await admin('GET', `/admin/audit?month=${new Date(store.now).toISOString().slice(0, 7)}`)
    ).json;
    assert.ok(
      audit.some(
        (entry: any) => entry.actor === 'root' && entry.resource === 'setting:auto_compaction_threshold',
      ),
    );
    await admin('PUT', '/admin/settings/auto_compaction_threshold', { value: 0.7 });
  });

  it('shows usage by day', async () => {
    const { usage } = (
      await admin('GET', `/admin/usage?day=${new Date(store.now).toISOString().slice(0, 10)}`)
    ).json;
    assert.ok(
      usage.some((entry: any) => entry.model === 'extractive' && entry.metadata.trigger === 'manual'),
    );
  });
});

describe('bad requests', () => {
  it('each has a problem that says what to do', async () => {
    const id = await channel();
    const cases: [Promise<{ status: number; json: any }>, number, string][] = [
      [api.as(undefined)('GET', '/channels'), 401, 'unauthenticated'],
      [ann('POST', '/channels', '{"title": '), 400, 'invalid_json'],
      [ann('POST', '/channels', {}), 422, 'invalid_request'],
      [ann('POST', '/channels', { title: 't', unknown: 1 }), 422, 'invalid_request'],
      [say(id, 'robot', 'x'), 422, 'invalid_request'],
      [say(id, 'user', [{ type: 'poem' }]), 422, 'invalid_request'],
      [say(id, 'user', 'x'.repeat(1_100_000)), 413, 'message_too_large'],
      [say(id, 'user', 'x', { parent_id: 'nobody' }), 422, 'unknown_parent'],
      [ann('GET', `/channels/${id}/path?limit=1000`), 422, 'invalid_request'],
      [ann('GET', '/nowhere'), 404, 'route_not_found'],
      [ann('DELETE', '/channels'), 405, 'method_not_allowed'],
      [ann('PUT', `/channels/${id}/cursor`, { message_id: 'nobody' }), 404, 'message_not_found'],
      [ann('POST', `/channels/${id}/undo`), 409, 'nothing_to_undo'],
    ];
    for (const [reply, status, code] of cases) {
      const { status: actual, json } = await reply;
      assert.deepEqual([actual, json.code, json.status], [status, code, status], JSON.stringify(json));
      assert.ok(json.detail.length > 0 && !/at .*\.ts/.test(json.detail));
    }
    assert.equal((await ann('GET', `/channels/${id}/path`)).json.messages.length, 0);
  });

  it('health needs no token', async () => {
    assert.equal((await api.as(undefined)('GET', '/health')).status, 200);
  });
});
