import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createConsume } from '../../lib/compaction/consume.ts';
import type { CompactOutcome, CompactRequest } from '../../lib/compaction/outcome.ts';
import { SummarizerError } from '../../lib/errors.ts';
import type { CompactionMessage, Job } from '../../lib/ports.ts';
import { parseCompactionMessage } from '../../lib/queue/message.ts';

const message: CompactionMessage = {
  channel_id: 'c',
  user_id: 'u',
  trigger: 'manual',
  job_id: 'j',
  correlation_id: 'x',
};

function setUp(outcome: CompactOutcome | Error) {
  const jobs: Job[] = [];
  const requests: CompactRequest[] = [];
  const quiet = () => undefined;
  const consume = createConsume({
    compact: async (request) => {
      requests.push(request);
      if (outcome instanceof Error) throw outcome;
      return outcome;
    },
    jobs: {
      putJob: async (job) => void jobs.push(job),
      getJob: async () => Promise.reject(new Error('not used')),
    },
    clock: () => 0,
    logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
  });
  const states = () =>
    jobs.map(({ status, error }) => (error === undefined ? status : `${status} ${error.code}`));
  return { consume, requests, states };
}

const first = { receiveCount: 1, deadline: 1_000 };
const last = { receiveCount: 5, deadline: 1_000 };

describe('a queued compaction', () => {
  it('is acknowledged when it is done, and the job has the result', async () => {
    const result = {
      summaryId: 's',
      summarizedCount: 3,
      model: 'm',
      usedFallback: false,
      content: 'c',
      inputTokens: 1,
      outputTokens: 2,
      tokensBefore: 9,
      tokensAfter: 3,
    };
    const { consume, requests, states } = setUp({ status: 'done', result });
    await consume(message, first);
    assert.deepEqual(states(), ['running', 'done']);
    assert.deepEqual(requests, [
      {
        channelId: 'c',
        userId: 'u',
        trigger: 'manual',
        correlationId: 'x',
        redelivered: false,
        lastAttempt: false,
        deadline: 1_000,
      },
    ]);
  });

  it('goes back to the queue for what may heal, and is final at the last delivery', async () => {
    const overloaded = new SummarizerError('overloaded', 'busy', { retryable: true });
    const early = setUp(overloaded);
    await assert.rejects(early.consume(message, first), overloaded);
    assert.deepEqual(early.states(), ['running']);
    const late = setUp(overloaded);
    await assert.rejects(late.consume(message, last), overloaded);
    assert.deepEqual(
      [late.states(), late.requests[0]?.lastAttempt, late.requests[0]?.redelivered],
      [['running', 'failed overloaded'], true, true],
    );
  });

  it('is acknowledged for what cannot heal', async () => {
    const { consume, states } = setUp(new SummarizerError('model_auth', 'no key'));
    await consume(message, first);
    assert.deepEqual(states(), ['running', 'failed model_auth']);
  });

  it("A30: a person's request waits behind a running compaction, the scanner's does not", async () => {
    await assert.rejects(setUp({ status: 'busy' }).consume(message, first), {
      code: 'compaction_running',
      retryable: true,
    });
    const { job_id: _job, ...auto } = message;
    await setUp({ status: 'busy' }).consume({ ...auto, trigger: 'auto' }, first);
  });

  it("a skip is told as the job's failure with its reason", async () => {
    const { consume, states } = setUp({ status: 'skipped', reason: 'too_few_messages' });
    await consume(message, first);
    assert.deepEqual(states(), ['running', 'failed too_few_messages']);
  });

  it('a body that is no message is refused with the fields that are wrong', () => {
    assert.deepEqual(parseCompactionMessage(JSON.stringify(message)), message);
    assert.throws(() => parseCompactionMessage('{"channel_id": 5}'), {
      code: 'invalid_message',
      message: /channel_id, user_id, trigger/,
    });
    assert.throws(() => parseCompactionMessage('not json'), { code: 'invalid_message' });
  });
});
