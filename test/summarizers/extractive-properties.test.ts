import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { estimateTokens } from '../../lib/compaction/estimator/index.ts';
import { createExtractiveSummarizer } from '../../lib/summarizers/extractive/index.ts';
import { previousSources } from '../../lib/summarizers/extractive/previous.ts';
import { costsOf, Selection } from '../../lib/summarizers/extractive/select.ts';
import { sourcesOf } from '../../lib/summarizers/extractive/sources.ts';
import { buildCorpus } from '../../lib/summarizers/extractive/units.ts';
import { termWeights } from '../../lib/summarizers/extractive/weights.ts';
import type { MessageContent } from '../../lib/treepath/content.ts';
import type { Role } from '../../lib/treepath/message.ts';
import { type Line, pathOf } from '../support/conversation.ts';

const summarizer = createExtractiveSummarizer();

const VOCABULARY =
  'harbour lantern violin orchard glacier not never 42 3.14 /usr/lib a.b@c.de the and of Paris Ming 北京 会议 予約 שלום مرحبا 🎉 👩‍🚀 é ß ; , . ! ? … - : " ``` \n'.split(
    ' ',
  );
const text = fc.oneof(
  fc.array(fc.constantFrom(...VOCABULARY), { maxLength: 40 }).map((words) => words.join(' ')),
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.string({ unit: 'grapheme', maxLength: 300 }),
);
const content: fc.Arbitrary<MessageContent> = fc.oneof(
  text,
  fc.array(
    fc.oneof(
      text.map((value) => ({ type: 'text' as const, text: value })),
      fc.record({
        type: fc.constant('tool_use' as const),
        id: fc.constantFrom('t1', 't2'),
        name: fc.constantFrom('ls', 'odd name: x'),
        input: fc.jsonValue(),
      }),
      fc.record({
        type: fc.constant('tool_result' as const),
        tool_use_id: fc.constantFrom('t1', 't2'),
        content: text,
        is_error: fc.boolean(),
      }),
      fc.constant({ type: 'image' as const, source: { type: 'url' } }),
    ),
    { maxLength: 4 },
  ),
);
const lines: fc.Arbitrary<Line[]> = fc.array(
  fc.tuple(fc.constantFrom<Role>('user', 'assistant', 'tool'), content),
  { minLength: 1, maxLength: 12 },
);

test('within the budget, well formed, never blank when there is text, the same every time', async () => {
  await fc.assert(
    fc.asyncProperty(
      lines,
      fc.integer({ min: 1, max: 300 }),
      fc.option(text, { nil: undefined }),
      async (talk, maxTokens, before) => {
        const request = {
          messages: pathOf(talk),
          maxTokens,
          ...(before === undefined ? {} : { previousSummary: before }),
        };
        const answer = await summarizer.summarize(request);
        assert.ok(answer.outputTokens <= maxTokens, `${answer.outputTokens} > ${maxTokens}`);
        assert.equal(answer.outputTokens, estimateTokens(answer.text));
        assert.ok(answer.text.isWellFormed());
        const hasText = [...previousSources(before), ...sourcesOf(request.messages)].length > 0;
        assert.equal(answer.text.trim() !== '', hasText);
        assert.deepEqual(await summarizer.summarize(request), answer);
      },
    ),
    { numRuns: 300 },
  );
});

const NUMBERED = fc.array(fc.constantFrom('harbour', 'lantern', 'violin', 'the', 'and', 'not', 'of'), {
  minLength: 1,
  maxLength: 8,
});

test('order and speakers are kept, and every word comes from the input', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(NUMBERED, { minLength: 2, maxLength: 30 }),
      fc.integer({ min: 10, max: 200 }),
      async (talk, maxTokens) => {
        const messages = pathOf(
          talk.map(
            (words, index): Line => [index % 2 ? 'assistant' : 'user', `Fact${index}x ${words.join(' ')}.`],
          ),
        );
        const { text: summary } = await summarizer.summarize({ messages, maxTokens });
        const told = [...summary.matchAll(/Fact(\d+)x/gu)].map((match) => Number(match[1]));
        assert.deepEqual(
          told,
          told.toSorted((a, b) => a - b),
        );
        const known = new Set([
          'user',
          'assistant',
          ...talk.flat(),
          ...talk.map((_, index) => `Fact${index}x`),
        ]);
        if (!summary.startsWith('user: ') && !summary.startsWith('assistant: ')) return;
        for (const word of summary.match(/\w+/gu) ?? []) assert.ok(known.has(word), `${word} in ${summary}`);
        for (const line of summary.split('\n')) {
          const odd = line.startsWith('assistant: ');
          for (const match of line.matchAll(/Fact(\d+)x/gu))
            assert.equal(Number(match[1]) % 2 === 1, odd, line);
        }
      },
    ),
    { numRuns: 200 },
  );
});

test('a repeated statement is told once', async () => {
  const same = 'The warehouse in Rotterdam floods every November.';
  const { text: summary } = await summarizer.summarize({
    messages: pathOf([
      ...Array.from({ length: 30 }, (): Line => ['user', same]),
      ['user', 'Our new tenant is Philomena.'],
    ]),
    maxTokens: 30,
  });
  assert.equal(summary.split('Rotterdam').length - 1, 1, summary);
  assert.match(summary, /Philomena/u);
});

/** Evaluations of the greedy choice that fills a tenth of a made-up talk of `chars` characters. */
function workOf(chars: number): number {
  let seed = 7;
  const next = (limit: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((seed / 2_147_483_648) ** 3 * limit);
  };
  const talk: Line[] = [];
  for (let written = 0; written < chars; ) {
    const words = Array.from({ length: 12 }, () => `w${next(chars / 40).toString(36)}`);
    talk.push([talk.length % 2 ? 'assistant' : 'user', `${words.join(' ')}.`]);
    written += words.join(' ').length + 1;
  }
  const sources = sourcesOf(pathOf(talk));
  const corpus = buildCorpus(sources);
  const selection = new Selection(
    corpus,
    termWeights(corpus, new Set()),
    costsOf(corpus, sources, estimateTokens),
  );
  for (let left = chars / 40; left > 0; ) {
    const taken = selection.next(left);
    if (taken === undefined) break;
    left -= taken.cost;
  }
  return selection.evaluations;
}

test('work grows about linearly up to 300 000 characters', () => {
  const small = workOf(75_000);
  const large = workOf(300_000);
  assert.ok(large < 6 * small, `${small} evaluations at 75 000 characters, ${large} at 300 000`);
});

test('one line of 300 000 characters without a space, in any script', async () => {
  for (const line of [
    'abc/'.repeat(75_000),
    '汉语'.repeat(150_000),
    '"a":1,'.repeat(50_000),
    '🎉'.repeat(150_000),
    'ab c'.padEnd(300_000, ' '),
  ]) {
    const answer = await summarizer.summarize({ messages: pathOf([['user', line]]), maxTokens: 100 });
    assert.ok(answer.outputTokens <= 100 && answer.text.trim() !== '');
  }
});
