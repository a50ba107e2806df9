import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { TestStore } from '../../support/dynamo.ts';
import { create, OWNER, say } from './fixture.ts';

/** Appending and reading, on any engine. */
export function conversationContract(get: () => TestStore): void {
  it('reads back a path in order, with sums', async () => {
    const store = get();
    const { id } = await create(store);
    for (const text of ['q1', 'a1', 'q2']) await say(store, id, text);
    const { cursor, messages } = await store.readContext(id, OWNER);
    assert.deepEqual(
      messages.map(({ content }) => content),
      ['q1', 'a1', 'q2'],
    );
    assert.deepEqual([cursor.leafDepth, cursor.sums.messages, cursor.sums.chars], [2, 3, 6]);
    assert.equal(
      cursor.sums.tokens,
      messages.reduce((sum, { tokens }) => sum + tokens, 0),
    );
  });

  it('branches get gap-free sibling indexes, also from concurrent writers', async () => {
    const store = get();
    const { id } = await create(store);
    const root = (await say(store, id, 'q')).message;
    const results = await Promise.all(
      Array.from({ length: 8 }, (_, n) => say(store, id, `a${n}`, { parentId: root.id, branch: true })),
    );
    assert.deepEqual(results.map(({ message }) => message.siblingIndex).sort(), [0, 1, 2, 3, 4, 5, 6, 7]);
    assert.equal((await store.siblings(id, results[0]?.message.id ?? '')).length, 8);
    const { messages } = await store.readPath(id, OWNER, { limit: 10 });
    assert.deepEqual(
      messages.map(({ siblingCount }) => siblingCount),
      [1, 8],
    );
  });

  it('answers the same idempotency key with the first result and refuses another body', async () => {
    const store = get();
    const { id } = await create(store);
    const first = await say(store, id, 'q', { idempotencyKey: 'k' });
    const again = await say(store, id, 'q', { idempotencyKey: 'k' });
    assert.deepEqual([again.replayed, again.message], [true, first.message]);
    await assert.rejects(say(store, id, 'other', { idempotencyKey: 'k' }), {
      code: 'idempotency_key_reused',
    });
    assert.equal((await store.readContext(id, OWNER)).messages.length, 1);
  });

  it('stores any string exactly, up to 1 MB in parts, and refuses more', async () => {
    const store = get();
    const { id } = await create(store);
    const odd = ['', 'nul \u0000', 'lone \ud800 half', 'שלום', '😀', '"\\n'];
    for (const text of [...odd, '漢'.repeat(300_000)]) {
      const { message } = await say(store, id, text);
      assert.equal((await store.getMessage(id, message.id)).content, text);
    }
    const before = await store.getCursor(id, OWNER);
    await assert.rejects(say(store, id, 'x'.repeat(1_100_000)), { code: 'message_too_large' });
    assert.deepEqual(await store.getCursor(id, OWNER), before);
    assert.equal((await store.readContext(id, OWNER)).messages.at(-1)?.content, '漢'.repeat(300_000));
  });

  it('a child sorts after its parent when the next writer is hours behind', async () => {
    const store = get();
    const { id } = await create(store);
    await say(store, id, 'q');
    store.now -= 5 * 3_600_000;
    await say(store, id, 'a');
    store.now += 5 * 3_600_000;
    assert.deepEqual(
      (await store.readContext(id, OWNER)).messages.map(({ content }) => content),
      ['q', 'a'],
    );
  });

  it('unknown channels, parents and deleted channels are told apart by code', async () => {
    const store = get();
    const { id } = await create(store);
    await assert.rejects(say(store, 'nowhere', 'q'), { code: 'channel_not_found' });
    await assert.rejects(say(store, id, 'q', { parentId: 'nobody' }), { code: 'unknown_parent' });
    const other = await create(store);
    const { message } = await say(store, other.id, 'q');
    await assert.rejects(say(store, id, 'q', { parentId: message.id }), { code: 'unknown_parent' });
    await store.deleteChannel(other.id);
    await assert.rejects(say(store, other.id, 'q'), { code: 'channel_not_found' });
    assert.deepEqual(
      (await store.listChannels(OWNER, { limit: 100 })).channels.some((c) => c.id === other.id),
      false,
    );
  });

  it('lists newest first, page by page', async () => {
    const store = get();
    const mine = 'lister';
    for (const title of ['1', '2', '3']) {
      store.now += 1_000;
      await store.createChannel({ ownerId: mine, title, type: 'direct', settings: {} });
    }
    const first = await store.listChannels(mine, { limit: 2 });
    assert.deepEqual(
      first.channels.map(({ title }) => title),
      ['3', '2'],
    );
    const second = await store.listChannels(mine, {
      limit: 2,
      ...(first.next === undefined ? {} : { after: first.next }),
    });
    assert.deepEqual([second.channels.map(({ title }) => title), second.next], [['1'], undefined]);
  });
}
