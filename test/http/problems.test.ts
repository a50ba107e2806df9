import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as z from 'zod';
import {
  AppError,
  ConflictError,
  InvalidInputError,
  NotFoundError,
  RateLimitError,
  StoreError,
  SummarizerError,
  TooLargeError,
} from '../../lib/errors.ts';
import { parseInput } from '../../lib/http/invalid-request.ts';
import { failureFields, problemOf } from '../../lib/http/problems.ts';

const later = { retryable: true };

describe('problems', () => {
  it('gives each class of error its status and tells when to come back', () => {
    const cases: [AppError, number, number | undefined][] = [
      [new NotFoundError('channel_not_found', 'm'), 404, undefined],
      [new InvalidInputError('cycle', 'm'), 422, undefined],
      [new InvalidInputError('invalid_json', 'm'), 400, undefined],
      [new AppError('unauthenticated', 'm'), 401, undefined],
      [new AppError('admin_only', 'm'), 403, undefined],
      [new AppError('service_only', 'm'), 403, undefined],
      [new AppError('method_not_allowed', 'm'), 405, undefined],
      [new ConflictError('idempotency_key_reused', 'm'), 409, undefined],
      [new ConflictError('compaction_running', 'm'), 409, 5],
      [new ConflictError('conversation_moved', 'm'), 409, 5],
      [new TooLargeError('message_too_large', 'm'), 413, undefined],
      [new RateLimitError('rate_limited', 'm', { details: { retryAfterSeconds: 1234.2 } }), 429, 1235],
      [new RateLimitError('rate_limited', 'm', { details: { retryAfterSeconds: 0 } }), 429, 1],
      [new RateLimitError('rate_limited', 'm'), 429, 60],
      [new StoreError('store_busy', 'm', later), 503, 5],
      [new StoreError('broken', 'm'), 500, undefined],
      [new SummarizerError('overloaded', 'm', { ...later, details: { retryAfterSeconds: 30 } }), 503, 30],
      [new SummarizerError('timeout', 'm', later), 503, 5],
      [new SummarizerError('summary_refused', 'm'), 502, undefined],
      [new AppError('whatever', 'm'), 500, undefined],
    ];
    for (const [error, status, retryAfterSeconds] of cases) {
      const told = problemOf(error);
      assert.deepEqual(
        [told.problem.status, told.retryAfterSeconds, told.problem.code, told.problem.detail],
        [status, retryAfterSeconds, error.code, 'm'],
      );
      assert.notEqual(told.problem.title, 'Error', error.code);
    }
  });

  it('tells nothing of an error that was not thrown on purpose', () => {
    const unplanned = [
      new TypeError('private words'),
      'private words',
      undefined,
      z.string().safeParse(1).error,
    ];
    for (const error of unplanned) {
      const { problem } = problemOf(error);
      assert.deepEqual([problem.status, problem.code], [500, 'internal']);
      assert.doesNotMatch(JSON.stringify(problem), /private|words|\.ts/);
    }
  });

  it('logs where a failure happened and not what it says', () => {
    const wrapped = new StoreError('broken', 'm', { cause: new RangeError('private\n words') });
    for (const error of [new RangeError('private\n words'), wrapped]) {
      const fields = failureFields(error);
      assert.equal(fields.error, 'RangeError');
      assert.match(String(fields.at), /problems\.test\.ts/);
      assert.doesNotMatch(JSON.stringify(fields), /private|words/);
    }
    assert.deepEqual(failureFields('private words'), { error: 'string' });
    assert.deepEqual(failureFields(new SummarizerError('timeout', 'm')), { error: 'none' });
  });

  it('names the fields of a wrong input, twenty at most, and holds no value of them', () => {
    const schema = z.strictObject({ list: z.array(z.enum(['one', 'two'])), count: z.int() });
    const input = { list: Array.from({ length: 50 }, () => 'private words'), count: 'private words' };
    const { problem } = problemOf(thrownBy(() => parseInput(schema, input)));
    assert.deepEqual([problem.status, problem.code, problem.errors?.length], [422, 'invalid_request', 20]);
    assert.equal(problem.errors?.[0]?.field, 'list.0');
    assert.doesNotMatch(JSON.stringify(problem), /private words/);
    const one = problemOf(thrownBy(() => parseInput(schema, { list: [], count: 1.5 }))).problem;
    assert.deepEqual([one.errors?.length, one.detail.startsWith('count: ')], [1, true]);
  });

  it('shortens names that the caller made up', () => {
    const { problem } = problemOf(
      thrownBy(() => parseInput(z.strictObject({}), { ['k'.repeat(100_000)]: 1 })),
    );
    assert.ok(JSON.stringify(problem).length < 1_000);
  });
});

function thrownBy(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  return assert.fail('nothing was thrown');
}
