import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SummarizerError } from '../../lib/errors.ts';
import { createUtilityRole } from '../../lib/summarizers/roles.ts';
import type { Attempt, Summarizer } from '../../lib/summarizers/summarizer.ts';
import { pathOf, turnsOf } from '../support/conversation.ts';
import { acceptComplete, overloaded, type Reply, scripted, wrongKey } from '../support/summarizers.ts';

const messages = pathOf(turnsOf(10, 400));
const request = { messages, maxTokens: 100, accept: acceptComplete };
const outcomes = (attempts: readonly Attempt[]) => attempts.map(({ model, outcome }) => [model, outcome]);

const one = (model: string, reply: Reply): Summarizer => scripted(model, () => reply).summarizer;

async function failureOf(...summarizers: [Summarizer, ...Summarizer[]]): Promise<SummarizerError> {
  const error = await createUtilityRole(summarizers)(request).catch((reason: unknown) => reason);
  assert.ok(error instanceof SummarizerError, String(error));
  return error;
}
const attemptsOf = (error: SummarizerError) => outcomes(error.details.attempts as Attempt[]);

describe('the utility role', () => {
  it('takes the primary when its answer is accepted, and asks no other', async () => {
    const fallback = scripted('b', () => 'b');
    const { answer, usedFallback, promptVersion, attempts } = await createUtilityRole([
      one('a', 'a'),
      fallback.summarizer,
    ])(request);
    assert.deepEqual([answer.text, usedFallback, promptVersion], ['a', false, 'a-1']);
    assert.deepEqual(attempts, [{ model: 'a', inputTokens: 10, outputTokens: 1, outcome: 'ok' }]);
    assert.equal(fallback.calls.length, 0);
  });

  it('goes on after an error and after a refused answer, any number of times, and reports every call', async () => {
    const { answer, usedFallback, promptVersion, attempts } = await createUtilityRole([
      one('a', overloaded()),
      one('b', ' '),
      one('c', { text: 'half', stop: 'cut_off' }),
      one('d', { text: 'no', stop: 'refusal' }),
      one('e', 'e'),
    ])(request);
    assert.deepEqual([answer.text, usedFallback, promptVersion], ['e', true, 'e-1']);
    assert.deepEqual(outcomes(attempts), [
      ['a', 'overloaded'],
      ['b', 'blank'],
      ['c', 'cut_off'],
      ['d', 'refusal'],
      ['e', 'ok'],
    ]);
    assert.equal(attempts[2]?.inputTokens, 10, 'a refused answer is paid for');
  });

  it('asks the fallback after an error that no summarizer declares', async () => {
    const { answer, attempts } = await createUtilityRole([one('a', new TypeError('a bug')), one('b', 'b')])(
      request,
    );
    assert.equal(answer.text, 'b');
    assert.deepEqual(outcomes(attempts), [
      ['a', 'summarizer_failed'],
      ['b', 'ok'],
    ]);
  });

  it('fails for good when no failure may pass', async () => {
    const error = await failureOf(one('a', ''), one('b', { text: 'x', stop: 'refusal' }));
    assert.equal(error.retryable, false);
    assert.equal(error.code, 'summary_refused');
    assert.deepEqual(attemptsOf(error), [
      ['a', 'blank'],
      ['b', 'refusal'],
    ]);
  });

  it('may be tried again when one failure may pass, and says which and when', async () => {
    const error = await failureOf(
      one('a', wrongKey()),
      one('b', overloaded({ retryAfterSeconds: 9 })),
      one('c', ''),
    );
    assert.deepEqual([error.retryable, error.code, error.details.retryAfterSeconds], [true, 'overloaded', 9]);
    assert.deepEqual(attemptsOf(error), [
      ['a', 'model_auth'],
      ['b', 'overloaded'],
      ['c', 'blank'],
    ]);
  });

  it('tells of a wrong key rather than of the fallback that could not help', async () => {
    const error = await failureOf(one('a', wrongKey()), one('b', ''));
    assert.deepEqual([error.retryable, error.code, error.message], [false, 'model_auth', 'Check the key.']);
  });

  it('marks the answer on a part that could not be used, not the others', async () => {
    const { summarizer } = scripted(
      'a',
      (part) =>
        part.messages[0]?.id === messages[0]?.id
          ? { text: 'half', stop: 'cut_off', outputTokens: 77 }
          : 'notes',
      600,
    );
    const error = await failureOf(summarizer);
    const cutOff = (error.details.attempts as Attempt[]).find(({ outcome }) => outcome === 'cut_off');
    assert.equal(cutOff?.outputTokens, 77);
    const kinds = attemptsOf(error).map(([, outcome]) => outcome);
    assert.equal(kinds.filter((outcome) => outcome === 'cut_off').length, 1);
    assert.ok(
      kinds.filter((outcome) => outcome === 'ok').length >= 1,
      'parts that ran beside it are recorded',
    );
  });

  it('records the parts that were paid for before one failed', async () => {
    const { summarizer } = scripted('a', (_part, call) => (call === 3 ? overloaded() : 'notes'), 600);
    const error = await failureOf(summarizer);
    const recorded = error.details.attempts as Attempt[];
    assert.ok(recorded.filter(({ outcome }) => outcome === 'ok').length >= 2);
    assert.deepEqual(recorded.at(-1), { model: 'a', inputTokens: 0, outputTokens: 0, outcome: 'overloaded' });
  });

  it('passes the batch threshold on', async () => {
    const { summarizer, calls } = scripted('a', () => 'notes');
    await createUtilityRole([summarizer])({ ...request, batchThreshold: 10 });
    assert.equal(calls.length, 3);
  });
});
