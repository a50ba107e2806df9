import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ImportedMessage } from '../../../lib/ports.ts';
import type { TestStore } from '../../support/dynamo.ts';
import { create, OWNER, say, talk } from './fixture.ts';

const node = (ref: string, parentRef: string | null): ImportedMessage => ({
  ref,
  parentRef,
  role: 'user',
  content: ref,
});
const CHANNEL = { ownerId: 'importer', title: 'x', type: 'direct' as const, settings: {} };

/** What comes in wrong, or in very large numbers, on any engine. */
export function badInputContract(get: () => TestStore, manyChildren: number): void {
  it('an import that is no tree names the message, and leaves no channel', async () => {
    const store = get();
    const bad: [ImportedMessage[], string | null, string, RegExp][] = [
      [[node('a', null), node('b', 'nobody')], null, 'unknown_parent', /"b" answers to "nobody"/],
      [[node('a', null), node('a', null)], null, 'duplicate_ref', /"a"/],
      [
        [node('r', null), node('a', 'c'), node('b', 'a'), node('c', 'b')],
        null,
        'cycle',
        /"[abc]" is its own ancestor/,
      ],
      [[node('a', 'a')], null, 'cycle', /"a"/],
      [[node('a', null)], 'gone', 'unknown_current', /"gone"/],
      [[{ ...node('a', null), content: 'x'.repeat(5_000_000) }], null, 'message_too_large', /1024 KB/],
      [[{ ...node('a', null), metadata: { type: 'summary' } }], null, 'reserved_metadata', /compactions/],
    ];
    for (const [messages, current, code, message] of bad) {
      await assert.rejects(store.importChannel(CHANNEL, messages, current), { code, message });
    }
    assert.deepEqual((await store.listChannels('importer', { limit: 10 })).channels, []);
  });

  it('an import in any order keeps branches and their order; its last leaf is where the cursor stands', async () => {
    const store = get();
    const messages = [
      node('a2', 'q'),
      node('a1', 'q'),
      node('deep', 'a2'),
      node('q', null),
      node('q2', null),
      node('last', 'a1'),
    ];
    const { id } = await store.importChannel({ ...CHANNEL, ownerId: OWNER }, messages, null);
    const path = await store.readPath(id, OWNER, { limit: 10 });
    assert.deepEqual(
      path.messages.map(({ content, siblingIndex, siblingCount }) => [content, siblingIndex, siblingCount]),
      [
        ['q', 0, 2],
        ['a1', 1, 2],
        ['last', 0, 1],
      ],
    );
    assert.deepEqual(path.messages[1]?.metadata, { source_id: 'a1' });
    const siblings = await store.siblings(id, path.messages[1]?.id ?? '');
    assert.deepEqual(
      siblings.map(({ content }) => content),
      ['a2', 'a1'],
    );
    assert.equal((await store.siblings(id, path.messages[0]?.id ?? '')).length, 2);
    await store.switchCursor(id, OWNER, siblings[0]?.id ?? '');
    assert.equal((await store.readContext(id, OWNER)).messages.at(-1)?.content, 'deep');
  });

  it('an empty import is an empty channel', async () => {
    const store = get();
    const { id } = await store.importChannel({ ...CHANNEL, ownerId: OWNER }, [], null);
    assert.equal((await store.getCursor(id, OWNER)).leafId, null);
    assert.equal((await say(store, id, 'q')).message.depth, 0);
  });

  it('five megabytes, or metadata without end, are refused and change nothing', async () => {
    const store = get();
    const { id } = await talk(store, 2);
    const before = await store.getCursor(id, OWNER);
    await assert.rejects(say(store, id, 'x'.repeat(5_000_000)), { code: 'message_too_large' });
    await assert.rejects(say(store, id, 'x', { metadata: { note: 'x'.repeat(40_000) } }), {
      code: 'metadata_too_large',
    });
    await assert.rejects(say(store, id, 'x', { metadata: { type: 'summary' } }), {
      code: 'reserved_metadata',
    });
    assert.deepEqual(await store.getCursor(id, OWNER), before);
  });

  it('a title, a person or a key that cannot be stored exactly is refused', async () => {
    const store = get();
    await assert.rejects(store.createChannel({ ...CHANNEL, title: 'half \ud800' }), { code: 'invalid_text' });
    await assert.rejects(store.createChannel({ ...CHANNEL, ownerId: 'x'.repeat(3_000) }), {
      code: 'id_too_long',
    });
    const { id } = await create(store);
    await assert.rejects(store.updateChannel(id, { title: '\udfff' }), { code: 'invalid_text' });
    await assert.rejects(say(store, id, 'q', { idempotencyKey: 'k'.repeat(2_000) }), { code: 'id_too_long' });
    assert.deepEqual((await store.readContext(id, OWNER)).messages, []);
  });

  it('ids that name nothing are not found, whatever they look like', async () => {
    const store = get();
    const { id } = await create(store);
    const { message } = await say(store, id, '漢'.repeat(20_000));
    for (const wrong of ['', '#', `${message.id}#P1`, 'x'.repeat(5_000), '\ud800', 'META']) {
      await assert.rejects(store.getMessage(id, wrong), { code: 'message_not_found' });
      await assert.rejects(store.switchCursor(id, OWNER, wrong), { code: 'message_not_found' });
      await assert.rejects(store.siblings(id, wrong), { code: 'message_not_found' });
      await assert.rejects(store.readContext(id, OWNER, wrong), { code: 'message_not_found' });
      await assert.rejects(store.readPath(id, OWNER, { limit: 5, before: wrong }), {
        code: 'message_not_found',
      });
      await assert.rejects(say(store, id, 'q', { parentId: wrong }), { code: 'unknown_parent' });
      await assert.rejects(store.getChannel(wrong), { code: 'channel_not_found' });
      await assert.rejects(store.getJob(id, wrong), { code: 'compaction_not_found' });
      assert.deepEqual(
        (await store.listChannels(OWNER, { limit: 2, after: wrong })).channels.length <= 2,
        true,
      );
    }
  });

  it('a key of another person is another key, and ends after a day', async () => {
    const store = get();
    const { id } = await create(store);
    await say(store, id, 'q', { idempotencyKey: 'k' });
    const other = await say(store, id, 'another', { idempotencyKey: 'k', userId: 'bob' });
    assert.equal(other.replayed, false);
    store.now += 24 * 3_600_000 + 1_000;
    assert.equal((await say(store, id, 'q', { idempotencyKey: 'k' })).replayed, false);
  });

  it('many writers at once all get through, with distinct places', async () => {
    const store = get();
    const { id } = await talk(store, 2);
    const results = await Promise.all(
      Array.from({ length: 12 }, (_, n) => say(store, id, `w${n}`, { userId: `u${n % 3}`, parentId: null })),
    );
    assert.deepEqual(
      results.map(({ message }) => message.siblingIndex).sort((a, b) => a - b),
      Array.from({ length: 12 }, (_, n) => n + 1),
    );
  });

  it(`${manyChildren} answers to one question`, async () => {
    const store = get();
    const count = manyChildren;
    const messages = [node('q', null), ...Array.from({ length: count }, (_, n) => node(`a${n}`, 'q'))];
    const { id } = await store.importChannel({ ...CHANNEL, ownerId: OWNER }, messages, null);
    const { messages: path } = await store.readPath(id, OWNER, { limit: 10 });
    assert.deepEqual(
      path.map(({ siblingCount }) => siblingCount),
      [1, count],
    );
    // The ids of an import run ahead of the clock, a millisecond a message.
    store.now += count + 1;
    const { message } = await say(store, id, 'one more', { parentId: path[0]?.id ?? '', branch: true });
    assert.equal(message.siblingIndex, count);
    assert.equal((await store.switchCursor(id, OWNER, path[0]?.id ?? '')).leafId, message.id);
    const siblings = await store.siblings(id, message.id);
    assert.deepEqual(
      [siblings.length, siblings[0]?.content, siblings.at(-1)?.content],
      [count + 1, 'a0', 'one more'],
    );
  });
}
