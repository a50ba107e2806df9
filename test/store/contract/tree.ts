import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { MessageContent } from '../../../lib/treepath/content.ts';
import type { TestStore } from '../../support/dynamo.ts';
import { compacted, create, OWNER, say, talk, texts } from './fixture.ts';

/** Branches, cursors, summaries and contents, on any engine. */
export function treeContract(get: () => TestStore): void {
  it('switches to the newest leaf below a message, and reads its path with sibling counts', async () => {
    const store = get();
    const { id } = await create(store);
    const question = (await say(store, id, 'q')).message;
    const first = (await say(store, id, 'a1')).message;
    await say(store, id, 'more', { parentId: first.id });
    store.now += 1_000;
    const second = (await say(store, id, 'a2', { parentId: question.id, branch: true })).message;
    assert.equal((await store.getCursor(id, OWNER)).leafId, second.id);
    const cursor = await store.switchCursor(id, OWNER, first.id);
    assert.equal(cursor.leafDepth, 2);
    const { messages } = await store.readPath(id, OWNER, { limit: 2 });
    assert.deepEqual(texts(messages), ['a1', 'more']);
    assert.deepEqual(
      messages.map(({ siblingCount, siblingIndex }) => [siblingIndex, siblingCount]),
      [
        [0, 2],
        [0, 1],
      ],
    );
    assert.equal((await store.switchCursor(id, OWNER, question.id)).leafId, second.id);
  });

  it('two people have cursors of their own', async () => {
    const store = get();
    const { id } = await talk(store, 4);
    assert.equal((await store.getCursor(id, 'bob')).leafId, null);
    assert.deepEqual((await store.readContext(id, 'bob')).messages, []);
    const [root] = (await store.readContext(id, OWNER)).messages;
    await say(store, id, 'bob asks', { userId: 'bob', parentId: root?.id ?? '', branch: true });
    assert.equal((await store.readContext(id, 'bob')).messages.length, 2);
    assert.equal((await store.readContext(id, OWNER)).messages.length, 4);
  });

  it('a context begins at its summary; a branch above it never sees it', async () => {
    const store = get();
    const { id } = await talk(store, 6);
    const before = await store.readContext(id, OWNER);
    const summary = await compacted(store, id, 4);
    const after = await store.readContext(id, OWNER);
    assert.equal(after.summary?.id, summary.id);
    assert.deepEqual(texts(after.messages), texts(before.messages.slice(4)));
    assert.equal(after.cursor.sums.messages, 2);
    assert.equal(summary.metadata.tokensAfter, after.cursor.sums.tokens);
    const elsewhere = await store.readContext(id, OWNER, before.messages[2]?.id);
    assert.deepEqual([elsewhere.summary, elsewhere.messages.length], [undefined, 3]);
  });

  it('a late reply goes below the summary that came meanwhile; an explicit branch does not', async () => {
    const store = get();
    const { id } = await talk(store, 6);
    const leafId = String((await store.getCursor(id, OWNER)).leafId);
    const summary = await compacted(store, id, 4);
    const reply = await say(store, id, 'a late', { parentId: leafId });
    assert.deepEqual([reply.redirectedFrom, reply.message.parentId], [leafId, summary.id]);
    const branch = await say(store, id, 'a other', { parentId: leafId, branch: true });
    assert.deepEqual([branch.redirectedFrom, branch.message.parentId], [undefined, leafId]);
    assert.equal(branch.message.sums.messages, 7);
  });

  it('undo goes back to where the summary was put, redo to where one stood', async () => {
    const store = get();
    const { id } = await talk(store, 6);
    const before = await store.getCursor(id, OWNER);
    await assert.rejects(store.undoSummary(id, OWNER), { code: 'nothing_to_undo' });
    await assert.rejects(store.redoSummary(id, OWNER), { code: 'nothing_to_redo' });
    await compacted(store, id, 4);
    const { message } = await say(store, id, 'next');
    assert.equal((await store.undoSummary(id, OWNER)).leafId, before.leafId);
    assert.equal((await store.readContext(id, OWNER)).messages.length, 6);
    assert.equal((await store.redoSummary(id, OWNER)).leafId, message.id);
    assert.equal((await store.readContext(id, OWNER)).messages.length, 3);
  });

  it('leading system messages stay above every summary', async () => {
    const store = get();
    const { id } = await create(store);
    await say(store, id, 'be kind', { role: 'system' });
    for (const text of ['q1', 'a1', 'q2', 'a2']) await say(store, id, text);
    await say(store, id, 'not pinned', { role: 'system' });
    await compacted(store, id, 3);
    const { pinned, messages, cursor } = await store.readContext(id, OWNER);
    assert.deepEqual([texts(pinned), texts(messages)], [['be kind'], ['a2', 'not pinned']]);
    assert.equal(cursor.sums.messages, 2);
    assert.equal(
      cursor.sums.tokens,
      [...pinned, ...messages].reduce((sum, { tokens }) => sum + tokens, 7),
    );
  });

  it('a long system prompt is read whole, whatever its size', async () => {
    const store = get();
    for (const size of [20_000, 900_000]) {
      const { id } = await create(store);
      await say(store, id, 'p'.repeat(size), { role: 'system' });
      for (const text of ['q1', 'a1', 'q2', 'a2']) await say(store, id, text);
      await compacted(store, id, 2);
      assert.deepEqual(texts((await store.readContext(id, OWNER)).pinned), ['p'.repeat(size)]);
    }
  });

  it('what the provider reported is the anchor of the sums', async () => {
    const store = get();
    const { id } = await create(store);
    await say(store, id, 'q');
    const answer = await say(store, id, 'a', { reportedTokens: 5_000 });
    assert.equal(answer.message.sums.tokens, 5_000);
    const { message } = await say(store, id, 'q2');
    assert.equal(message.sums.tokens, 5_000 + message.tokens);
  });

  it('every kind of block comes back exactly', async () => {
    const store = get();
    const { id } = await create(store);
    const contents: MessageContent[] = [
      [],
      '',
      [{ type: 'text', text: '' }],
      [
        { type: 'thinking', thinking: 'hm\u0000', signature: 's' },
        { type: 'tool_use', id: 't1', name: 'look', input: { deep: [1, null, { '': 'x', __a: -0.5 }] } },
      ],
      [
        {
          type: 'tool_result',
          tool_use_id: 't1',
          is_error: true,
          content: [{ type: 'text', text: '\ud83d' }],
        },
        { type: 'tool_result', tool_use_id: 't2' },
      ],
      [{ type: 'image', source: { type: 'url', url: 'https://example.org/a.png' } }],
    ];
    for (const content of contents) {
      const { message } = await say(store, id, content);
      assert.deepEqual((await store.getMessage(id, message.id)).content, content);
    }
    assert.deepEqual(texts((await store.readContext(id, OWNER)).messages), contents);
  });
}
