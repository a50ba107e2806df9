import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import * as z from 'zod';
import type { Compact } from '../../lib/compaction/outcome.ts';
import { createApp } from '../../lib/http/app.ts';
import type { Claims } from '../../lib/http/principal.ts';
import { newId } from '../../lib/treepath/ids.ts';
import { startApi } from '../support/api.ts';
import { startEngine, startStore, type TestStore } from '../support/dynamo.ts';

let store: TestStore;
let as: ReturnType<typeof startApi>['as'];
before(async () => {
  store = await startStore(await startEngine());
  ({ as } = startApi(store));
});

const idsOf = (list: unknown): string[] =>
  z
    .array(z.object({ id: z.string() }))
    .parse(list)
    .map(({ id }) => id);

describe('pages', () => {
  it('channels come newest first, each exactly once', async () => {
    const call = as({ sub: 'pia' });
    const made: string[] = [];
    for (let index = 0; index < 5; index += 1) {
      store.now += 1;
      made.unshift((await call('POST', '/channels', { title: `t${index}` })).json.id);
    }
    const seen: string[] = [];
    let next: string | null = '';
    while (next !== null) {
      const { json } = await call('GET', `/channels?limit=2${next && `&cursor=${next}`}`);
      assert.ok(json.channels.length <= 2);
      seen.push(...idsOf(json.channels));
      next = json.next_cursor;
    }
    assert.deepEqual(seen, made);
  });

  it('a path is read upwards from its leaf', async () => {
    const call = as({ sub: 'pia' });
    const { id } = (await call('POST', '/channels', { title: 't' })).json;
    const made: string[] = [];
    for (let index = 0; index < 5; index += 1) {
      const { json } = await call('POST', `/channels/${id}/messages`, { role: 'user', content: `${index}` });
      made.push(json.id);
    }
    const newest = (await call('GET', `/channels/${id}/path?limit=2`)).json;
    assert.deepEqual(idsOf(newest.messages), made.slice(3));
    const older = (await call('GET', `/channels/${id}/path?limit=2&before=${newest.next_before}`)).json;
    assert.deepEqual(idsOf(older.messages), made.slice(1, 3));
    const oldest = (await call('GET', `/channels/${id}/path?limit=2&before=${older.next_before}`)).json;
    assert.deepEqual([idsOf(oldest.messages), oldest.next_before], [made.slice(0, 1), null]);
  });
});

describe('reading', () => {
  it('one message; the context of another leaf', async () => {
    const call = as({ sub: 'rio' });
    const { id } = (await call('POST', '/channels', { title: 't' })).json;
    const say = (role: string, content: string, more = {}) =>
      call('POST', `/channels/${id}/messages`, { role, content, ...more });
    const question = (await say('user', 'q')).json;
    const first = (await say('assistant', 'one')).json;
    const second = await say('assistant', 'two', { parent_id: question.id, branch: true });
    assert.equal(second.headers.get('location'), `/channels/${id}/messages/${second.json.id}`);
    const read = await call('GET', second.headers.get('location') ?? '');
    assert.deepEqual([read.status, read.json.content], [200, 'two']);
    const { json } = await call('GET', `/channels/${id}/context?leaf_id=${first.id}`);
    assert.deepEqual(idsOf(json.messages), [question.id, first.id]);
  });

  it('A14, A20: pressure names where budget and threshold come from', async () => {
    const call = as({ sub: 'rio', 'cognito:groups': '[admin]' });
    await call('PUT', '/admin/models/known', { max_context: 1_000 });
    const settings = { compaction_threshold: 0.01 };
    const { id } = (await call('POST', '/channels', { title: 't', model: 'known', settings })).json;
    await call('POST', `/channels/${id}/messages`, { role: 'user', content: 'word '.repeat(700) });
    const { json } = await call('GET', `/channels/${id}/pressure`);
    assert.deepEqual(
      [json.budget, json.budget_source, json.threshold, json.threshold_source],
      [1_000, 'model', 0.01, 'channel'],
    );
    assert.deepEqual([json.over_threshold, json.warning, json.state], [true, true, 'idle']);
    assert.equal(json.ratio, json.tokens / 1_000);
    const lease = await store.acquireLease(id, 'someone', { now: store.now, leaseMs: 60_000 });
    assert.ok(lease);
    assert.equal((await call('GET', `/channels/${id}/pressure`)).json.state, 'compacting');
  });
});

describe('who calls', () => {
  it('a service writes in the name of the user that it acts for', async () => {
    const service = as({ sub: 'svc', scope: 'compaction/service' });
    const made = await service('POST', '/channels', { title: 't' }, { 'x-on-behalf-of': 'uma' });
    assert.equal((await as({ sub: 'uma' })('GET', `/channels/${made.json.id}`)).status, 200);
    assert.equal((await service('GET', `/channels/${made.json.id}`)).status, 404);
  });

  it('another person is told "not found" by every route, in the words for a channel that is not there', async () => {
    const { id } = (await as({ sub: 'uma' })('POST', '/channels', { title: 't' })).json;
    const routes: [string, string, object?][] = [
      ['GET', ''],
      ['PATCH', '', { title: 'x' }],
      ['DELETE', ''],
      ['POST', '/messages', { role: 'user', content: 'x' }],
      ['GET', '/messages/m'],
      ['GET', '/messages/m/siblings'],
      ['GET', '/path'],
      ['GET', '/context'],
      ['GET', '/pressure'],
      ['PUT', '/cursor', { message_id: 'm' }],
      ['POST', '/summarize'],
      ['GET', '/compactions/j'],
      ['POST', '/undo'],
      ['POST', '/redo'],
    ];
    const eve = as({ sub: 'eve', 'cognito:groups': '[admin]', teams: '[red]' });
    const missing = '0'.repeat(id.length);
    for (const [method, path, body] of routes) {
      const theirs = await eve(method, `/channels/${id}${path}`, body);
      const nobodys = await eve(method, `/channels/${missing}${path}`, body);
      assert.deepEqual([theirs.status, theirs.json.code], [404, 'channel_not_found'], `${method} ${path}`);
      assert.equal(theirs.json.detail.replace(id, missing), nobodys.json.detail);
    }
    assert.equal((await as({ sub: 'uma' })('GET', `/channels/${id}`)).json.title, 't');
  });

  it('every admin route is for administrators', async () => {
    const routes: [string, string, object?][] = [
      ['GET', '/settings'],
      ['GET', '/settings/utility_rate_limit'],
      ['PUT', '/settings/utility_rate_limit', { value: 1 }],
      ['GET', '/models'],
      ['PUT', '/models/m', { max_context: 8_000 }],
      ['GET', '/usage?day=2026-03-01'],
      ['GET', '/audit?month=2026-03'],
    ];
    for (const [method, path, body] of routes) {
      const refused = await as({ sub: 'uma' })(method, `/admin${path}`, body);
      assert.deepEqual([refused.status, refused.json.code], [403, 'admin_only'], `${method} ${path}`);
      const nobody = await as(undefined)(method, `/admin${path}`, body);
      assert.deepEqual([nobody.status, nobody.headers.get('www-authenticate')], [401, 'Bearer']);
    }
  });
});

describe('the log', () => {
  type Line = { readonly level: string; readonly message: string; readonly [field: string]: unknown };

  /** The real app whose log is kept; a compaction fails in a way that nobody planned. */
  function serve() {
    const lines: Line[] = [];
    const keep = (level: string) => (message: string, fields?: object) =>
      void lines.push({ level, message, ...fields });
    const compact: Compact = () => Promise.reject(new TypeError('private words'));
    const app = createApp({
      store,
      compact,
      queue: { send: async () => [] },
      adminGroup: 'admin',
      clock: () => store.now,
      newId: () => newId(store.now),
      logger: { debug: keep('debug'), info: keep('info'), warn: keep('warn'), error: keep('error') },
    });
    const call = (method: string, path: string, body?: string, claims: Claims = { sub: 'lou' }) => {
      const env = { event: { requestContext: { authorizer: { jwt: { claims } } } } };
      return app.request(path, { method, ...(body === undefined ? {} : { body }) }, env);
    };
    return { lines, call };
  }

  const request = (method: string, route: string, status: number, code?: string): Line => ({
    level: 'info',
    message: 'http request',
    method,
    route,
    status,
    duration_ms: 0,
    ...(code === undefined ? {} : { code }),
  });

  it('has one line for each request, with the route and not its ids', async () => {
    const { lines, call } = serve();
    await call('POST', '/channels', '{"title":"private words"}');
    await call('POST', '/channels', '{"private words');
    await call('POST', '/channels', '{"title":"t","private words":1}');
    await call('GET', '/channels/private-words/context');
    await call('GET', '/channels', undefined, {});
    assert.deepEqual(lines, [
      request('POST', '/channels', 201),
      request('POST', '/channels', 400, 'invalid_json'),
      request('POST', '/channels', 422, 'invalid_request'),
      request('GET', '/channels/:channelId/context', 404, 'channel_not_found'),
      request('GET', '/channels', 401, 'unauthenticated'),
    ]);
  });

  it('says where an unplanned failure happened, and neither log nor answer what it said', async () => {
    const { lines, call } = serve();
    const { id } = await store.createChannel({ ownerId: 'lou', title: 't', type: 'direct', settings: {} });
    const response = await call('POST', `/channels/${id}/summarize`);
    const text = await response.text();
    assert.equal(response.status, 500);
    const [failure, line] = lines;
    assert.deepEqual([failure?.level, failure?.code, failure?.error], ['error', 'internal', 'TypeError']);
    assert.match(String(failure?.at), /compactions\.ts/);
    assert.deepEqual(line, request('POST', '/channels/:channelId/summarize', 500, 'internal'));
    assert.doesNotMatch(JSON.stringify(lines) + text, /private|words/);
    assert.doesNotMatch(text, /\.ts/);
  });
});
