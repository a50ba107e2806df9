import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nextSiblingIndex, updateCursor } from '../../lib/treepath/cursor.ts';
import type { Message, SummaryMetadata } from '../../lib/treepath/message.ts';
import { getActiveLeaf, getActivePath, getPathToLeaf } from '../../lib/treepath/path.ts';
import { findLeafFromMessage, getSiblingCount, getSiblings } from '../../lib/treepath/siblings.ts';
import { isSummaryMessage, summaryMetadata } from '../../lib/treepath/summary.ts';
import { isTurnInFlight, splitTurns } from '../../lib/treepath/turns.ts';
import { call, pathOf, result } from '../support/conversation.ts';

const node = (id: string, parentId: string | null, siblingIndex = 0) => ({ id, parentId, siblingIndex });

/** a ─ b ─ c, and beside b: d ─ e; e is the newest. */
const tree = [node('a', null), node('b', 'a'), node('c', 'b'), node('d', 'a', 1), node('e', 'd')];
const ids = (nodes: readonly { id: string }[]): string => nodes.map(({ id }) => id).join('');

describe('A10: paths', () => {
  it('getPathToLeaf walks up and leaves other branches out', () => {
    assert.equal(ids(getPathToLeaf(tree, 'c')), 'abc');
    assert.equal(ids(getPathToLeaf(tree, 'd')), 'ad');
    assert.equal(ids(getPathToLeaf(tree, 'nowhere')), '');
    assert.equal(ids(getPathToLeaf([node('x', 'y'), node('y', 'x')], 'x')), 'yx', 'a cycle ends');
  });

  it('getActiveLeaf is the newest message that nothing answers; getActivePath follows the cursor', () => {
    assert.equal(getActiveLeaf(tree)?.id, 'e');
    assert.equal(getActiveLeaf([]), undefined);
    assert.equal(ids(getActivePath(tree, null)), 'ade');
    assert.equal(ids(getActivePath(tree, 'c')), 'abc');
  });
});

describe('A10: siblings', () => {
  it('getSiblings in the order of their index, getSiblingCount with itself', () => {
    assert.equal(ids(getSiblings(tree, node('d', 'a', 1))), 'bd');
    assert.equal(getSiblingCount(tree, node('b', 'a')), 2);
    assert.equal(getSiblingCount(tree, node('a', null)), 1);
  });

  it('findLeafFromMessage takes the newest branch at each step', () => {
    assert.equal(findLeafFromMessage(tree, 'a'), 'e');
    assert.equal(findLeafFromMessage(tree, 'b'), 'c');
    assert.equal(findLeafFromMessage(tree, 'c'), 'c');
  });
});

describe('A10: summaries and cursors', () => {
  const [plain] = pathOf([['user', 'x']]);
  assert.ok(plain);
  const metadata = { type: 'summary', trigger: 'auto', summarizedCount: 3 } as SummaryMetadata;

  it('isSummaryMessage and summaryMetadata', () => {
    assert.deepEqual([isSummaryMessage(plain), summaryMetadata(plain)], [false, undefined]);
    const summary: Message = { ...plain, metadata };
    assert.deepEqual([isSummaryMessage(summary), summaryMetadata(summary)], [true, metadata]);
  });

  it('updateCursor copies what the leaf weighs; nextSiblingIndex leaves no gap', () => {
    const cursor = updateCursor({ channelId: 'c', userId: 'u' }, plain, 7);
    assert.deepEqual(cursor, {
      channelId: 'c',
      userId: 'u',
      leafId: plain.id,
      leafDepth: 0,
      sums: plain.sums,
      activeAt: 7,
    });
    assert.deepEqual([nextSiblingIndex(0), nextSiblingIndex(3)], [0, 3]);
  });
});

describe('turns', () => {
  const turns = (...lines: Parameters<typeof pathOf>[0]) =>
    splitTurns(pathOf(lines)).map((turn) => turn.length);

  it('begin with what a person says; what stands before is a turn of its own', () => {
    assert.deepEqual(
      turns(['assistant', 'hi'], ['user', 'q'], ['assistant', 'a'], ['user', 'q'], ['user', 'q']),
      [1, 2, 1, 1],
    );
    assert.deepEqual(
      turns(['user', 'q'], ['assistant', call('a')], ['user', result('a')], ['assistant', 'done']),
      [4],
    );
  });

  it('hold a call and its late result together, and nothing for a call without one', () => {
    assert.deepEqual(
      turns(
        ['user', 'q'],
        ['assistant', call('a')],
        ['user', 'hurry'],
        ['user', result('a')],
        ['user', 'next'],
      ),
      [4, 1],
    );
    assert.deepEqual(
      turns(['user', 'q'], ['assistant', call('a')], ['user', 'never mind'], ['assistant', 'ok']),
      [2, 2],
    );
  });

  it('are in flight after a person, a tool, or with an open call', () => {
    const inFlight = (...lines: Parameters<typeof pathOf>[0]) => isTurnInFlight(pathOf(lines));
    assert.equal(inFlight(['user', 'q']), true);
    assert.equal(inFlight(['user', 'q'], ['assistant', call('a')]), true);
    assert.equal(inFlight(['user', 'q'], ['assistant', call('a')], ['tool', result('a')]), true);
    assert.equal(
      inFlight(['user', 'q'], ['assistant', call('a')], ['user', 'stop'], ['assistant', 'ok']),
      false,
    );
    assert.equal(inFlight(['user', 'q'], ['assistant', 'a']), false);
    assert.equal(inFlight(), false);
  });
});
