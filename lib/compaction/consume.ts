import { AppError } from '../errors.ts';
import type { Clock, CompactionMessage, Job, JobStore, Logger } from '../ports.ts';
import { MAX_RECEIVES } from '../settings/defaults.ts';
import type { Compact, CompactOutcome } from './outcome.ts';

export type ConsumeDeps = {
  readonly compact: Compact;
  readonly jobs: JobStore;
  readonly clock: Clock;
  readonly logger: Logger;
};

export type Delivery = {
  /** How often the queue has delivered this message, this time included. */
  readonly receiveCount: number;
  /** Epoch milliseconds by which the work must be over. */
  readonly deadline: number;
};

/**
 * Runs one queued compaction. Returning acknowledges the message; throwing gives it back to the queue, which is done
 * only where a later delivery can go better.
 */
export function createConsume(deps: ConsumeDeps) {
  return async function consume(message: CompactionMessage, delivery: Delivery): Promise<void> {
    const job = await startJob(deps, message);
    try {
      const outcome = await deps.compact({
        channelId: message.channel_id,
        userId: message.user_id,
        trigger: message.trigger,
        correlationId: message.correlation_id,
        redelivered: delivery.receiveCount > 1,
        lastAttempt: delivery.receiveCount >= MAX_RECEIVES,
        deadline: delivery.deadline,
      });
      // A person's request waits for the compaction that is in its way; the scanner simply comes back (A30).
      if (outcome.status === 'busy' && job && delivery.receiveCount < MAX_RECEIVES) throw busyError();
      await endJob(deps, job, resultOf(outcome));
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const again = error.retryable && delivery.receiveCount < MAX_RECEIVES;
      if (!again)
        await endJob(deps, job, { status: 'failed', error: { code: error.code, message: error.message } });
      if (error.retryable) throw error;
      deps.logger.warn('compaction: message acknowledged after a final failure', {
        channel_id: message.channel_id,
        code: error.code,
      });
    }
  };
}

const busyError = (): AppError =>
  new AppError('compaction_running', 'Another compaction of this channel is running.', { retryable: true });

async function startJob({ jobs, clock }: ConsumeDeps, message: CompactionMessage): Promise<Job | undefined> {
  if (message.job_id === undefined) return undefined;
  const job: Job = {
    id: message.job_id,
    channelId: message.channel_id,
    status: 'running',
    createdAt: new Date(clock()).toISOString(),
  };
  await jobs.putJob(job);
  return job;
}

async function endJob(
  { jobs }: ConsumeDeps,
  job: Job | undefined,
  end: Pick<Job, 'status' | 'result' | 'error'>,
): Promise<void> {
  if (job) await jobs.putJob({ ...job, ...end });
}

function resultOf(outcome: CompactOutcome): Pick<Job, 'status' | 'result' | 'error'> {
  switch (outcome.status) {
    case 'done':
      return {
        status: 'done',
        result: {
          summary_id: outcome.result.summaryId,
          summarized_count: outcome.result.summarizedCount,
          model: outcome.result.model,
          used_fallback: outcome.result.usedFallback,
          content: outcome.result.content,
          input_tokens: outcome.result.inputTokens,
          output_tokens: outcome.result.outputTokens,
        },
      };
    case 'busy':
      return {
        status: 'failed',
        error: { code: 'compaction_running', message: 'Another compaction was running.' },
      };
    case 'stale':
      return {
        status: 'failed',
        error: { code: 'conversation_moved', message: 'The conversation went to another branch.' },
      };
    case 'skipped':
      return {
        status: 'failed',
        error: {
          code: outcome.reason,
          message: `Nothing was summarized: ${outcome.reason.replaceAll('_', ' ')}.`,
        },
      };
  }
}
