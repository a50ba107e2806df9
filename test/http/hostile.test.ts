import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { startApi } from '../support/api.ts';
import { startEngine, startStore, type TestStore } from '../support/dynamo.ts';

let store: TestStore;
let call: ReturnType<ReturnType<typeof startApi>['as']>;
let channelId: string;
before(async () => {
  store = await startStore(await startEngine());
  call = startApi(store).as({ sub: 'ann', 'cognito:groups': '[admin]' });
  channelId = (await call('POST', '/channels', { title: 't' })).json.id;
  await call('POST', `/channels/${channelId}/messages`, { role: 'user', content: 'q' });
});

const itemCount = async (): Promise<number> =>
  (await store.client.send(new ScanCommand({ TableName: store.tableName, Select: 'COUNT' }))).Count ?? 0;

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
const say = (more: string): string => `{"role":"user","content":"x",${more}}`;

describe('hostile requests', () => {
  it('are refused with a reason and write nothing', async () => {
    const messages = `/channels/${channelId}/messages`;
    const node = (ref: string, parent: string | null) => ({
      ref,
      parent_ref: parent,
      role: 'user',
      content: 'x',
    });
    const imported = (current: string | null, ...nodes: object[]) => ({
      title: 't',
      messages: nodes,
      current_ref: current,
    });
    const long = 'x'.repeat(3_000);
    const cases: [string, string, unknown, number, string, Record<string, string>?][] = [
      ['POST', messages, say(`"metadata":{"deep":${nested(100_000)}}`), 422, 'invalid_request'],
      ['POST', messages, `{"role":"user","content":${nested(100_000)}}`, 422, 'invalid_request'],
      ['POST', messages, nested(100_000), 422, 'invalid_request'],
      ['POST', messages, '{"role":"user","content":"x"}}', 400, 'invalid_json'],
      ['POST', messages, say(`"metadata":{"half":"\\ud800"}`).replace('x', '\u0000'), 400, 'invalid_json'],
      ['POST', messages, say(`"metadata":{"type":"summary"}`), 422, 'reserved_metadata'],
      ['POST', messages, say(`"branch":"yes"`), 422, 'invalid_request'],
      ['POST', messages, say(`"parent_id":"${long}"`), 422, 'invalid_request'],
      ['POST', messages, say(`"reported_tokens":1e300`), 422, 'invalid_request'],
      ['POST', messages, say(`"metadata":{}`), 422, 'invalid_request', { 'idempotency-key': '' }],
      ['POST', messages, say(`"metadata":{}`), 422, 'invalid_request', { 'idempotency-key': long }],
      ['POST', messages, say(`"metadata":{"much":"${'m'.repeat(40_000)}"}`), 413, 'metadata_too_large'],
      ['POST', '/channels', `{"title":"${'t'.repeat(6_400_000)}"}`, 413, 'message_too_large'],
      ['POST', '/channels', '{"title":"\\udfff"}', 422, 'invalid_text'],
      ['POST', '/channels', { title: 't' }, 403, 'service_only', { 'x-on-behalf-of': 'bob' }],
      ['POST', '/channels/import', imported('z', node('a', null)), 422, 'unknown_current'],
      ['POST', '/channels/import', imported(null, node('a', 'a')), 422, 'cycle'],
      [
        'POST',
        '/channels/import',
        imported(null, node('a', null), node('b', 'c'), node('c', 'b')),
        422,
        'cycle',
      ],
      ['POST', '/channels/import', imported(null, node('a', null), node('b', 'z')), 422, 'unknown_parent'],
      ['POST', '/channels/import', imported(null, node('a', null), node('a', null)), 422, 'duplicate_ref'],
      [
        'POST',
        '/channels/import',
        imported(null, { ...node('a', null), content: long.repeat(500) }),
        413,
        'message_too_large',
      ],
      ['PUT', `/admin/models/${long}`, { max_context: 8_000 }, 422, 'id_too_long'],
      ['PUT', '/admin/settings/__proto__', { value: 1 }, 404, 'unknown_setting'],
      ['PUT', '/admin/settings/utility_rate_limit', {}, 422, 'invalid_request'],
      ['GET', `/channels/${long}`, undefined, 404, 'channel_not_found'],
      ['GET', '/channels/%E0%A4%A', undefined, 404, 'channel_not_found'],
      ['GET', `/channels/${channelId}/messages/${long}`, undefined, 404, 'message_not_found'],
      ['GET', `/channels/${channelId}/compactions/${long}`, undefined, 404, 'compaction_not_found'],
      ['GET', `/channels/${channelId}/path?before=nope`, undefined, 404, 'message_not_found'],
      ['GET', `/channels/${channelId}/context?leaf_id=nope`, undefined, 404, 'message_not_found'],
      ['GET', '/channels?limt=5', undefined, 422, 'invalid_request'],
      ['GET', '/admin/audit?month=2026-13', undefined, 422, 'invalid_request'],
      ['POST', `/channels/${channelId}/summarize`, { until: 'nope' }, 422, 'not_enough_messages'],
      ['OPTIONS', '/channels', undefined, 405, 'method_not_allowed'],
    ];
    const before = await itemCount();
    for (const [method, path, body, status, code, headers] of cases) {
      const reply = await call(method, path, body, headers);
      const what = `${method} ${path.slice(0, 60)} ${JSON.stringify(reply.json).slice(0, 300)}`;
      assert.deepEqual([reply.status, reply.json.code], [status, code], what);
      assert.equal(reply.headers.get('content-type'), 'application/problem+json', what);
      assert.ok(JSON.stringify(reply.json).length < 8_000, what);
    }
    assert.equal(await itemCount(), before);
  });

  it('405 names what the path takes', async () => {
    assert.equal((await call('DELETE', '/channels')).headers.get('allow'), 'GET, POST');
  });

  it('never make a failure of this service, whatever is sent', async () => {
    const paths = fc.constantFrom(
      '/channels',
      '/channels/import',
      `/channels/${channelId}`,
      `/channels/${channelId}/messages`,
      `/channels/${channelId}/path`,
      `/channels/${channelId}/context`,
      `/channels/${channelId}/pressure`,
      `/channels/${channelId}/cursor`,
      `/channels/${channelId}/summarize`,
      `/channels/${channelId}/undo`,
      `/channels/${channelId}/compactions/x`,
      '/admin/settings/utility_rate_limit',
      '/admin/models/m',
      '/admin/usage',
    );
    const tail = fc.oneof(
      fc.constant(''),
      fc.webQueryParameters().map((query) => `?${query}`),
      fc.webSegment().map((segment) => `/${segment}`),
    );
    const field = fc.constantFrom(
      'title',
      'role',
      'content',
      'parent_id',
      'metadata',
      'messages',
      'current_ref',
      'message_id',
      'settings',
      'value',
      'max_context',
      'until',
      'model',
    );
    const value = fc.oneof(
      fc.jsonValue({ maxDepth: 3 }),
      fc.constantFrom('user', 'assistant', 'x', 9_000, null, '__proto__'),
      fc.constant([{ type: 'text', text: 'x' }]),
    );
    const body = fc.oneof(
      fc.dictionary(field, value, { maxKeys: 4 }).map((json) => JSON.stringify(json)),
      fc.string({ unit: 'binary' }),
    );
    const method = fc.constantFrom('GET', 'POST', 'PUT', 'PATCH');
    await fc.assert(
      fc.asyncProperty(method, paths, tail, body, async (verb, path, rest, text) => {
        const reply = await call(verb, path + rest, verb === 'GET' ? undefined : text);
        assert.ok(reply.status < 500, `${reply.status} ${JSON.stringify(reply.json)}`);
        if (reply.status >= 400) assert.equal(reply.json.status, reply.status);
      }),
      { numRuns: 400 },
    );
  });
});
