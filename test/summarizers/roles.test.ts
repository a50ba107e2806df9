import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SummarizerError } from '../../lib/errors.ts';
import { summarizeInParts } from '../../lib/summarizers/multipart.ts';
import { partsOf } from '../../lib/summarizers/parts.ts';
import { createUtilityRole } from '../../lib/summarizers/roles.ts';
import type { Attempt, Summarizer, SummaryAnswer, SummaryRequest } from '../../lib/summarizers/summarizer.ts';
import { call, pathOf, result, turnsOf } from '../support/conversation.ts';

type Reply = string | Partial<SummaryAnswer> | SummarizerError;

function scripted(
  model: string,
  reply: (request: SummaryRequest, call: number) => Reply,
  window = Number.POSITIVE_INFINITY,
) {
  const calls: SummaryRequest[] = [];
  const summarizer: Summarizer = {
    model,
    promptVersion: `${model}-1`,
    window,
    async summarize(request) {
      calls.push(request);
      const answer = reply(request, calls.length);
      if (answer instanceof SummarizerError) throw answer;
      const given = typeof answer === 'string' ? { text: answer } : answer;
      return { text: '', model, inputTokens: 10, outputTokens: 1, stop: 'complete', ...given };
    },
  };
  return { summarizer, calls };
}

const messages = pathOf(turnsOf(10, 400));
const accept = ({ text }: SummaryAnswer) =>
  text.trim() === '' ? { ok: false as const, reason: 'blank' } : { ok: true as const };
const request = { messages, maxTokens: 100, accept };
const outcomes = (attempts: readonly Attempt[]) => attempts.map(({ model, outcome }) => [model, outcome]);

describe('the utility role', () => {
  it('takes the primary when its answer is accepted', async () => {
    const fallback = scripted('b', () => 'b');
    const { answer, usedFallback, promptVersion, attempts } = await createUtilityRole([
      scripted('a', () => 'a').summarizer,
      fallback.summarizer,
    ])(request);
    assert.deepEqual(
      [answer.text, usedFallback, promptVersion, outcomes(attempts)],
      ['a', false, 'a-1', [['a', 'ok']]],
    );
    assert.equal(fallback.calls.length, 0);
  });

  it('goes on after an error and after a refused answer, and reports every call', async () => {
    const role = createUtilityRole([
      scripted('a', () => new SummarizerError('overloaded', 'x', { retryable: true })).summarizer,
      scripted('b', () => ' ').summarizer,
      scripted('c', () => 'c').summarizer,
    ]);
    const { answer, usedFallback, attempts } = await role(request);
    assert.deepEqual([answer.text, usedFallback], ['c', true]);
    assert.deepEqual(outcomes(attempts), [
      ['a', 'overloaded'],
      ['b', 'blank'],
      ['c', 'ok'],
    ]);
  });

  it('fails with every attempt, retryable when one failure was', async () => {
    const blank = scripted('b', () => '').summarizer;
    const overloaded = scripted(
      'a',
      () => new SummarizerError('overloaded', 'x', { retryable: true }),
    ).summarizer;
    for (const [list, retryable, count] of [
      [[overloaded, blank], true, 2],
      [[blank], false, 1],
    ] as const) {
      const [first, ...rest] = list;
      await assert.rejects(createUtilityRole([first, ...rest])(request), (error) => {
        assert.ok(error instanceof SummarizerError);
        assert.equal(error.retryable, retryable);
        assert.equal((error.details.attempts as Attempt[]).length, count);
        return true;
      });
    }
  });
});

describe('summaries in parts', () => {
  const noted: SummaryAnswer[] = [];
  const run = (summarizer: Summarizer, more: Partial<SummaryRequest> = {}) =>
    summarizeInParts(summarizer, { messages, maxTokens: 100, ...more }, (answer) => void noted.push(answer));

  it('makes one call when the transcript fits', async () => {
    const { summarizer, calls } = scripted('a', () => 'x', 100_000);
    await run(summarizer);
    assert.equal(calls.length, 1);
  });

  it('shows every message to the model, in parts within its window, and the previous summary to the merge', async () => {
    const window = 600;
    const { summarizer, calls } = scripted('a', (_request, n) => `notes ${n}`, window);
    await run(summarizer, { previousSummary: 'earlier' });
    const parts = calls.slice(0, -1);
    assert.ok(parts.length > 2);
    assert.deepEqual(
      parts
        .flatMap((part) => part.messages)
        .map(({ id }) => id)
        .sort(),
      messages.map(({ id }) => id).sort(),
    );
    assert.ok(parts.every((part) => part.messages.reduce((sum, { tokens }) => sum + tokens, 0) <= window));
    assert.ok(
      parts.every((part) => part.messages[0]?.role === 'user'),
      'a part begins with a turn',
    );
    assert.ok(parts.every(({ previousSummary }) => previousSummary === undefined));
    assert.equal(calls.at(-1)?.previousSummary, 'earlier');
    assert.deepEqual(
      calls.at(-1)?.messages.map(({ content }) => content),
      parts.map((_, index) => `notes ${index + 1}`),
    );
  });

  it('2 million characters through a window of 8 000 tokens: bounded calls, all within the window', async () => {
    const long = pathOf(turnsOf(500, 2_000));
    const { summarizer, calls } = scripted('a', (_request, n) => `notes ${n} `.repeat(60), 8_000);
    const { text } = await run(summarizer, { messages: long, maxTokens: 1_000 });
    assert.ok(text.length > 0);
    assert.ok(calls.every((each) => each.messages.reduce((sum, { tokens }) => sum + tokens, 0) <= 8_000));
    assert.ok(calls.length < 100, `${calls.length}`);
  });

  it('shortens a message that no window takes, with a note, and never drops it', () => {
    const giant = pathOf([
      ['user', `begin ${'x'.repeat(50_000)} end`],
      ['assistant', 'short'],
    ]);
    const [part] = partsOf(giant, 1_000);
    const shown = String(part?.[0]?.content);
    assert.match(shown, /^begin [\s\S]*characters left out[\s\S]* end$/);
    assert.ok((part?.[0]?.tokens ?? 0) <= 500);
  });

  it('a call and its result are in the same part', () => {
    const path = pathOf([
      ...turnsOf(3, 300),
      ['user', 'look'],
      ['assistant', call('a')],
      ['user', result('a')],
      ['assistant', 'done'],
      ...turnsOf(3, 300),
    ]);
    for (const part of partsOf(path, 250)) {
      const text = JSON.stringify(part.map(({ content }) => content));
      assert.equal(text.includes('tool_use"'), text.includes('tool_result"'));
    }
  });

  it('ends when a model does not condense', async () => {
    const { summarizer, calls } = scripted('a', (each) => 'y'.repeat(each.messages.length * 4_000), 600);
    const { text } = await run(summarizer);
    assert.ok(text.length > 0 && calls.length < 50);
  });

  it('a cut-off part is never merged', async () => {
    const { summarizer } = scripted(
      'a',
      (_request, n) => (n === 2 ? { text: 'half', stop: 'cut_off' } : `notes ${n}`),
      600,
    );
    assert.equal((await run(summarizer)).stop, 'cut_off');
  });
});
