import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { SummarizerError } from '../../lib/errors.ts';
import { type PartOptions, summarizeInParts } from '../../lib/summarizers/multipart.ts';
import { partsOf, shortenToTokens, shownTokens } from '../../lib/summarizers/parts.ts';
import type { Summarizer, SummaryAnswer, SummaryRequest } from '../../lib/summarizers/summarizer.ts';
import type { Message } from '../../lib/treepath/message.ts';
import { splitTurns } from '../../lib/treepath/turns.ts';
import { call, type Line, pathOf, result, turnsOf } from '../support/conversation.ts';
import { overloaded, scripted } from '../support/summarizers.ts';

const messages = pathOf(turnsOf(10, 400));
const tokensOf = (part: readonly Message[]): number =>
  part.reduce((sum, message) => sum + shownTokens(message), 0);
const idsOf = (part: readonly Message[]): string[] => part.map(({ id }) => id);

function run(summarizer: Summarizer, more: Partial<SummaryRequest> = {}, options: PartOptions = {}) {
  const seen: SummaryAnswer[] = [];
  const answer = summarizeInParts(
    summarizer,
    { messages, maxTokens: 100, ...more },
    (each) => seen.push(each),
    options,
  );
  return { answer, seen };
}

describe('summaries in parts', () => {
  it('makes one call when the transcript fits, with everything in it', async () => {
    const { summarizer, calls } = scripted('a', () => 'x', 100_000);
    await run(summarizer, { previousSummary: 'earlier', instructions: 'mind the dates' }).answer;
    assert.equal(calls.length, 1);
    assert.deepEqual(
      [calls[0]?.messages, calls[0]?.previousSummary, calls[0]?.instructions, calls[0]?.mode],
      [messages, 'earlier', 'mind the dates', undefined],
    );
  });

  it('shows every message once, in parts that begin with a turn, and the previous summary to the merge', async () => {
    const window = 600;
    const { summarizer, calls } = scripted('a', (_request, n) => `notes ${n}`, window);
    const { answer, seen } = run(summarizer, { previousSummary: 'earlier', instructions: 'dates' });
    await answer;
    const parts = calls.slice(0, -1);
    const merge = calls.at(-1);
    assert.ok(parts.length > 2);
    assert.deepEqual(
      parts.flatMap((part) => idsOf(part.messages)),
      idsOf(messages),
    );
    assert.ok(parts.every((part) => tokensOf(part.messages) <= window));
    assert.ok(parts.every((part) => part.messages[0]?.role === 'user'));
    assert.ok(parts.every(({ previousSummary, mode }) => previousSummary === undefined && mode === 'part'));
    assert.deepEqual([merge?.previousSummary, merge?.mode], ['earlier', 'merge']);
    assert.ok(calls.every(({ instructions }) => instructions === 'dates'));
    assert.deepEqual(
      merge?.messages.map(({ content }) => content),
      parts.map((_, index) => `notes ${index + 1}`),
    );
    assert.equal(seen.length, calls.length);
  });

  it('merges the notes in the order of the parts, whichever came first', async () => {
    let release: (() => void) | undefined;
    const slow = new Promise<string>((resolve) => {
      release = () => resolve('notes 1');
    });
    const { summarizer, calls } = scripted('a', (_request, n) => (n === 1 ? slow : `notes ${n}`), 600);
    const { answer } = run(summarizer, {}, { concurrency: 20 });
    setImmediate(() => release?.());
    await answer;
    const merged = calls.at(-1)?.messages.map(({ content }) => content) ?? [];
    assert.deepEqual(
      merged,
      merged.map((_, index) => `notes ${index + 1}`),
    );
    assert.ok(merged.length > 2);
  });

  it('2 million characters through a model of 8 000 tokens: a merge tree, every call within the window', async () => {
    const long = pathOf(turnsOf(500, 2_000));
    const window = 4_200;
    const { summarizer, calls } = scripted('a', (_request, n) => `notes ${n} `.repeat(90), window);
    const { answer } = run(summarizer, {
      messages: long,
      maxTokens: 4_096,
      previousSummary: 'p'.repeat(8_000),
    });
    assert.ok((await answer).text.length > 0);
    const first = new Set(idsOf(long));
    const parts = calls.filter(({ mode }) => mode === 'part');
    assert.deepEqual(new Set(parts.flatMap((part) => idsOf(part.messages))), first);
    assert.ok(calls.filter(({ mode }) => mode === 'merge').length > 1, 'the notes were merged in parts');
    for (const { messages: part, previousSummary = '' } of calls)
      assert.ok(tokensOf(part) + previousSummary.length / 4 <= window);
    assert.deepEqual(
      calls.flatMap(({ previousSummary }, index) => (previousSummary === undefined ? [] : [index])),
      [calls.length - 1],
    );
    assert.ok(calls.every(({ maxTokens }) => maxTokens <= window / 4));
    assert.ok(calls.length < 250, `${calls.length}`);
  });

  it('runs at most as many parts at once as allowed', async () => {
    let running = 0;
    let most = 0;
    const { summarizer } = scripted(
      'a',
      async () => {
        running += 1;
        most = Math.max(most, running);
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
        return 'notes';
      },
      600,
    );
    await run(summarizer).answer;
    assert.equal(most, 3);
    most = 0;
    await run(summarizer, {}, { concurrency: 1 }).answer;
    assert.equal(most, 1);
  });

  it('DT7: more messages than the batch threshold are two halves and a merge, exactly 3 calls', async () => {
    const { summarizer, calls } = scripted('a', () =>
      'a rather long summary of very short messages '.repeat(9),
    );
    const talk = pathOf(Array.from({ length: 22 }, (_, n): Line => [n % 2 ? 'assistant' : 'user', `m${n}`]));
    await run(summarizer, { messages: talk, previousSummary: 'earlier' }, { batchThreshold: 5 }).answer;
    assert.deepEqual(
      calls.map(({ messages: { length }, previousSummary }) => [length, previousSummary]),
      [
        [10, undefined],
        [12, undefined],
        [2, 'earlier'],
      ],
    );
    calls.length = 0;
    await run(summarizer, { messages: talk }, { batchThreshold: 1 }).answer;
    assert.equal(calls.length, 3, 'the two summaries are not halved again');
    calls.length = 0;
    await run(summarizer, { messages: talk.slice(0, 5) }, { batchThreshold: 5 }).answer;
    assert.equal(calls.length, 1);
  });

  it('a part that cannot be used ends it: nothing new is begun, nothing is merged', async () => {
    for (const bad of [{ text: 'half', stop: 'cut_off' as const }, { text: ' ' }]) {
      const { summarizer, calls } = scripted('a', (_request, n) => (n === 2 ? bad : `notes ${n}`), 300);
      const { answer, seen } = run(summarizer);
      assert.equal((await answer).text, bad.text);
      assert.ok(calls.length <= 5, `${calls.length}`);
      assert.ok(calls.every(({ mode }) => mode === 'part'));
      assert.equal(seen.length, calls.length);
    }
  });

  it('a failed part is told only when the others have settled, so that their usage is seen', async () => {
    let release: (() => void) | undefined;
    const slow = new Promise<string>((resolve) => {
      release = () => resolve('slow notes');
    });
    const { summarizer, calls } = scripted(
      'a',
      (_request, n) => {
        if (n === 1) return slow;
        setImmediate(() => release?.());
        return overloaded();
      },
      600,
    );
    const { answer, seen } = run(summarizer);
    await assert.rejects(answer, SummarizerError);
    assert.deepEqual(
      seen.map(({ text }) => text),
      ['slow notes'],
    );
    assert.equal(calls.length, 3);
  });

  it('ends when a model does not condense, and keeps the previous summary then too (fault 1)', async () => {
    const { summarizer, calls } = scripted('a', (each) => 'y'.repeat(each.messages.length * 4_000), 600);
    const { text } = await run(summarizer, { previousSummary: 'earlier' }).answer;
    assert.ok(text.startsWith('earlier\n') && calls.length < 50);
  });

  it('shortens an earlier summary that would leave no room, with a note', async () => {
    const { summarizer, calls } = scripted('a', () => 'x', 1_000);
    const previousSummary = `first ${'p'.repeat(20_000)} last`;
    await run(summarizer, { previousSummary }).answer;
    assert.match(calls.at(-1)?.previousSummary ?? '', /^first [\s\S]*characters left out[\s\S]* last$/);
  });
});

describe('parts', () => {
  it('a message that no window takes is shortened, with a note, and never dropped (fault 5)', () => {
    const giant = pathOf([
      ['user', `begin ${'x'.repeat(50_000)} end`],
      ['assistant', 'short'],
    ]);
    const [part] = partsOf(giant, 1_000);
    const shown = String(part?.[0]?.content);
    assert.match(shown, /^begin [\s\S]*characters left out[\s\S]* end$/);
    assert.ok(shown.length > 1_500, 'as much as fits is kept');
    assert.ok(tokensOf(part ?? []) <= 1_000);
  });

  it('a giant message keeps its calls and results in what is shown', () => {
    const path = pathOf([
      ['user', 'look'],
      [
        'assistant',
        [
          { type: 'text', text: 'z'.repeat(20_000) },
          { type: 'tool_use', id: 'a', name: 'search', input: { q: 'the-last-call' } },
        ],
      ],
      ['user', result('a')],
    ]);
    const shown = JSON.stringify(partsOf(path, 1_000).flat());
    assert.match(shown, /left out.*\[call search .*the-last-call/);
    assert.match(shown, /result of a/);
  });

  it('a huge tool result needs no part of its own: the transcript shows its head and tail', () => {
    const path = pathOf([
      ['user', 'look'],
      ['assistant', call('a')],
      ['user', [{ type: 'tool_result', tool_use_id: 'a', content: 'r'.repeat(400_000) }]],
      ['assistant', 'done'],
    ]);
    assert.deepEqual(partsOf(path, 2_000), [path]);
  });

  it('property: every message is in exactly one part, in order, within the window, cut at turns when they fit', () => {
    const line = fc.oneof(
      fc
        .record({ role: fc.constantFrom('user' as const, 'assistant' as const), size: fc.nat(3_000) })
        .map(({ role, size }): Line => [role, '字w '.repeat(size / 3)]),
      fc.constantFrom<Line>(['assistant', call('a')], ['user', result('a')], ['tool', result('a')]),
    );
    fc.assert(
      fc.property(
        fc.array(line, { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 100, max: 4_000 }),
        fc.option(fc.integer({ min: 1, max: 8 }), { nil: undefined }),
        (lines, window, batch) => {
          const path = pathOf(lines);
          const parts = partsOf(path, window, batch);
          assert.deepEqual(parts.flatMap(idsOf), idsOf(path));
          assert.ok(parts.every((part) => part.length > 0));
          for (const part of parts) assert.ok(tokensOf(part) <= window, `${tokensOf(part)} > ${window}`);
          for (const turn of splitTurns(path)) {
            if (tokensOf(turn) > window / 2) continue;
            const home = parts.filter((part) => part.some(({ id }) => id === turn[0]?.id))[0] ?? [];
            assert.ok(
              idsOf(turn).every((id) => idsOf(home).includes(id)),
              'a turn is divided',
            );
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it('property: a text shortened to tokens is within them and has both ends', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', '字', '😀', ' '), minLength: 200, maxLength: 3_000 }),
        fc.integer({ min: 40, max: 500 }),
        (text, max) => {
          const short = shortenToTokens(text, max);
          assert.ok(shownTokens({ role: 'user', content: short }) <= max + 6);
          assert.ok(text.startsWith(short.slice(0, 2)) && text.endsWith(short.slice(-2)));
          assert.ok(short.isWellFormed());
        },
      ),
      { numRuns: 60 },
    );
  });
});
