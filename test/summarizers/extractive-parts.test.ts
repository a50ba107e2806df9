import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { MaxHeap } from '../../lib/summarizers/extractive/heap.ts';
import { previousSources } from '../../lib/summarizers/extractive/previous.ts';
import { segments } from '../../lib/summarizers/extractive/segment.ts';
import { bestOffer } from '../../lib/summarizers/extractive/spans.ts';
import { inputDigest } from '../../lib/summarizers/extractive/tool-input.ts';
import { buildCorpus } from '../../lib/summarizers/extractive/units.ts';
import { stem, wordsOf } from '../../lib/summarizers/extractive/words.ts';

const textsOf = (text: string): string[] => segments(text).map((segment) => segment.text);
const keysOf = (text: string): string[] => wordsOf(text).map(({ key, kind }) => `${kind}:${key}`);

test('the heap gives keys in falling order and equal keys by number', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 50 }), (keys) => {
      const heap = new MaxHeap();
      for (const [item, key] of keys.entries()) heap.push(item, key);
      const popped = keys.map(() => heap.pop());
      const expected = [...keys.keys()].toSorted((a, b) => (keys[b] ?? 0) - (keys[a] ?? 0) || a - b);
      assert.deepEqual(popped, expected);
      assert.equal(heap.pop(), undefined);
    }),
  );
});

test('sentences part at their ends, not within versions, addresses or abbreviated figures', () => {
  assert.deepEqual(textsOf('Use v2.1.0 now. Write to a.b@c.de! 你好。再见！さようなら'), [
    'Use v2.1.0 now.',
    'Write to a.b@c.de!',
    '你好。',
    '再见！',
    'さようなら',
  ]);
});

test('list marks go, code lines stay whole', () => {
  assert.deepEqual(segments('1. Buy milk\n- Sell eggs\n```\nif (a) { b(); }\n```'), [
    { text: 'Buy milk', whole: false, code: false },
    { text: 'Sell eggs', whole: false, code: false },
    { text: 'if (a) { b(); }', whole: true, code: true },
  ]);
});

test('data without spaces is cut, minified data is parted at its commas', () => {
  const [blob = ''] = textsOf('x'.repeat(5_000));
  assert.equal(blob, `${'x'.repeat(120)}…`);
  const minified = textsOf(`{${Array.from({ length: 60 }, (_, i) => `"key${i}":"value${i}"`).join(',')}}`);
  assert.ok(minified.join(' ').includes('"key59":"value59"'));
});

test('paths, URLs, identifiers, figures and amounts are one word each', () => {
  assert.deepEqual(keysOf('see /usr/lib, https://a.example/x?b=1 or getUserName: 3.14 and $40.'), [
    'word:see',
    'identifier:/usr/lib',
    'identifier:https://a.example/x?b=1',
    'word:or',
    'identifier:getusername',
    'number:3.14',
    'word:and',
    'number:$40',
  ]);
});

test('a URL inside Chinese text is found', () => {
  assert.ok(keysOf('访问https://a.cn/x?b=1查看').includes('identifier:https://a.cn/x?b=1'));
});

test('forms of a word share a key', () => {
  for (const [one, other] of [
    ['paintings', 'painting'],
    ['parties', 'party'],
    ['planned', 'plan'],
    ['moves', 'moving'],
  ] as const)
    assert.equal(stem(one).replace(/ing$/u, ''), stem(other).replace(/ing$/u, ''), one);
});

/** The fragment of a sentence that is taken when only `worthy` words are worth something. */
function taken(sentence: string, worthy: readonly string[]): string {
  const [unit] = buildCorpus([{ label: 'user', text: sentence, day: '', factor: 1, whole: false }]).units;
  assert.ok(unit);
  const gains = unit.words.map(({ start, end }) =>
    worthy.some((word) => sentence.slice(start, end).startsWith(word)) ? 10 : 0,
  );
  const offer = bestOffer(unit, { gains, taken: [], density: 0.25, opening: 0, room: 100 });
  assert.ok(offer);
  return sentence.slice(unit.words[offer.from]?.start, unit.words[offer.to - 1]?.end).trim();
}

test('a fragment reaches to the negation before or after it, within its clause', () => {
  const before = 'well my friends and I really must never sell granite quarries to anyone at all here';
  assert.match(taken(before, ['granite', 'quarries']), /^(?:.* )?never sell granite quarries/u);
  const after = 'gestern Abend verkaufte der alte Schmied Granit nicht an die netten Leute von nebenan';
  assert.match(taken(after, ['alte', 'Schmied', 'Granit']), /Granit nicht/u);
  const other = 'we did not, as far as anyone remembers these days, sell granite quarries there';
  assert.doesNotMatch(taken(other, ['granite', 'quarries']), /not/u);
});

test('a fragment fits in the room there is', () => {
  const [unit] = buildCorpus([
    { label: '', text: 'one two three four five six', day: '', factor: 1, whole: false },
  ]).units;
  assert.ok(unit);
  const offer = bestOffer(unit, {
    gains: unit.words.map(() => 1),
    taken: [],
    density: 0.25,
    opening: 0,
    room: 5,
  });
  assert.ok(offer && offer.cost <= 5);
  assert.equal(
    bestOffer(unit, { gains: unit.words.map(() => 1), taken: [], density: 0.25, opening: 0, room: 1 }),
    undefined,
  );
});

test('what was kept once goes before new text', () => {
  const [earlier] = previousSources('user: The keys are with Ottoline');
  assert.ok(earlier && earlier.factor > 1);
});

test('arguments of a call: one line, long values and long lists cut', () => {
  assert.equal(inputDigest({ path: 'a.ts', all: true, lines: [1, 2] }), 'path=a.ts, all=true, lines=[1,2]');
  assert.equal(inputDigest({ text: `a\n${'b'.repeat(500)}` }), `text=a ${'b'.repeat(118)}…`);
  assert.ok(
    inputDigest(Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`k${i}`, i]))).endsWith('k7=7, …'),
  );
  assert.equal(inputDigest(null), '');
  assert.equal(inputDigest('plain'), 'plain');
});
