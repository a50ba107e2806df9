import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createExtractiveSummarizer } from '../../lib/summarizers/extractive/index.ts';
import { previousSources } from '../../lib/summarizers/extractive/previous.ts';
import { type Line, pathOf } from '../support/conversation.ts';

const summarizer = createExtractiveSummarizer();

const NAMES = [
  'Ansgar',
  'Beatrix',
  'Cosima',
  'Dietmar',
  'Eleonore',
  'Friedrun',
  'Gerwin',
  'Hedda',
  'Isolde',
  'Jorin',
];
const TOWNS = ['Oslo', 'Porto', 'Quito', 'Riga', 'Sofia', 'Tunis', 'Utrecht', 'Vigo', 'Warsaw', 'Zagreb'];
const CHAT = 'Oh wow, that sounds so lovely, I am happy for them and hope that it all goes well there!';

const fact = (index: number): string =>
  `${NAMES[index % 10]} moved to ${TOWNS[(index * 3) % 10]} in ${1990 + index}.`;
const talk = (from: number, to: number): Line[] =>
  Array.from({ length: to - from }, (_, offset): Line[] => [
    ['user', fact(from + offset)],
    ['assistant', CHAT],
  ]).flat();

/** The words that make a fact: name, town and year of each. */
const told = (text: string, to: number): number =>
  Array.from({ length: to }, (_, index) => `${1990 + index}`).filter((year) => text.includes(year)).length /
  to;

test('own lines come back with speaker and day', () => {
  const sources = previousSources(
    '[2026-03-01]\nuser: Fix the build; use npm\nbash✗: error TS2304\n[2026-03-04]\nassistant: Done',
  );
  assert.deepEqual(
    sources.map(({ label, text, day }) => [label, text, day]),
    [
      ['user', 'Fix the build\nuse npm', '2026-03-01'],
      ['bash✗', 'error TS2304', '2026-03-01'],
      ['assistant', 'Done', '2026-03-04'],
    ],
  );
});

test('a summary of another kind is read line by line', async () => {
  const { text } = await summarizer.summarize({
    messages: pathOf([['user', 'And now the roof.']]),
    previousSummary: '## Goals\n- Paint the shed in ochre before Whitsun\n\nBudget is 450 EUR',
    maxTokens: 100,
  });
  assert.match(text, /Paint the shed in ochre before Whitsun/u);
  assert.match(text, /450 EUR/u);
});

test('a summary with room for itself survives a second pass unchanged', async () => {
  const first = await summarizer.summarize({ messages: pathOf(talk(0, 12)), maxTokens: 120 });
  const second = await summarizer.summarize({
    messages: pathOf([['user', 'Right.']]),
    previousSummary: first.text,
    maxTokens: 130,
  });
  assert.ok(second.text.startsWith(first.text), `${first.text}\n--\n${second.text}`);
});

test('two compactions in a row keep what one would keep, give or take a tenth', async () => {
  const maxTokens = 220;
  const once = await summarizer.summarize({ messages: pathOf(talk(0, 30)), maxTokens });
  const first = await summarizer.summarize({ messages: pathOf(talk(0, 15)), maxTokens });
  const second = await summarizer.summarize({
    messages: pathOf(talk(15, 30)),
    previousSummary: first.text,
    maxTokens,
  });
  assert.ok(told(once.text, 30) > 0.6, once.text);
  assert.ok(told(second.text, 30) >= 0.9 * told(once.text, 30), second.text);
});

test('five compactions in a row still know the first part', async () => {
  let previousSummary = '';
  for (let part = 0; part < 5; part += 1) {
    const answer = await summarizer.summarize({
      messages: pathOf(talk(part * 6, part * 6 + 6)),
      ...(part === 0 ? {} : { previousSummary }),
      maxTokens: 260,
    });
    previousSummary = answer.text;
  }
  assert.ok(told(previousSummary, 6) >= 0.5, previousSummary);
});
