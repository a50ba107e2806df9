import { Hono } from 'hono';
import type { CompactOutcome, CompactSkip } from '../../compaction/outcome.ts';
import { pressureOf } from '../../compaction/pressure.ts';
import { ConflictError, InvalidInputError, StoreError } from '../../errors.ts';
import type { Job } from '../../ports.ts';
import { readSettings } from '../../settings/index.ts';
import type { Channel } from '../../treepath/channel.ts';
import type { HttpDeps } from '../deps.ts';
import { presentJob, presentResult } from '../presenters.ts';
import { bodyOf, type Ctx, channelOf, type Env } from '../request.ts';
import { defined, summarizeBody } from '../schemas.ts';

/** The gateway gives up at 30 s; the work is aborted before that, and never cut. */
const DEADLINE_MS = 25_000;
/** A context above this many tokens may take longer than the gateway waits: the queue does it. */
const SYNCHRONOUS_TOKENS = 60_000;

const isoOrNull = (at: number | undefined): string | null =>
  at === undefined ? null : new Date(at).toISOString();

const SKIP_MESSAGES: Partial<Record<CompactSkip, string>> = {
  too_few_messages: 'There are too few messages since the last summary; at least 4 are needed.',
  until_not_in_context: 'The message named in `until` is not in the present context.',
};

/** Outcomes that are not a result, as errors of this API. */
function refusalOf(outcome: Exclude<CompactOutcome, { status: 'done' }>): Error {
  switch (outcome.status) {
    case 'busy':
      return new ConflictError(
        'compaction_running',
        'A compaction of this channel is running; try again in a moment.',
      );
    case 'stale':
      return new ConflictError(
        'conversation_moved',
        'The conversation went to another branch meanwhile; nothing was changed.',
      );
    case 'skipped': {
      const code = outcome.reason === 'too_few_messages' ? 'not_enough_messages' : outcome.reason;
      return new InvalidInputError(
        code,
        SKIP_MESSAGES[outcome.reason] ?? `Nothing was summarized: ${code.replaceAll('_', ' ')}.`,
      );
    }
  }
}

export function compactionRoutes(deps: HttpDeps): Hono<Env> {
  const { store, clock, newId } = deps;

  async function enqueue(c: Ctx, channel: Channel) {
    const job: Job = {
      id: newId(),
      channelId: channel.id,
      status: 'queued',
      createdAt: new Date(clock()).toISOString(),
    };
    await store.putJob(job);
    const unsent = await deps.queue.send([
      {
        channel_id: channel.id,
        user_id: c.var.principal.sub,
        trigger: 'manual',
        job_id: job.id,
        correlation_id: job.id,
      },
    ]);
    if (unsent.length > 0)
      throw new StoreError('queue_unavailable', 'The queue did not take the request; try again.', {
        retryable: true,
      });
    c.header('Location', `/channels/${channel.id}/compactions/${job.id}`);
    return c.json(presentJob(job), 202);
  }

  return new Hono<Env>()
    .get('/pressure', async (c) => {
      const channel = await channelOf(c, deps);
      const [context, settings] = await Promise.all([
        store.readContext(channel.id, c.var.principal.sub),
        readSettings(store, deps.utilityModel),
      ]);
      const pressure = pressureOf(channel, context, settings, clock());
      return c.json({
        channel_id: channel.id,
        leaf_id: context.cursor.leafId,
        tokens: pressure.tokens,
        messages: pressure.messages,
        chars: pressure.chars,
        budget: pressure.budget.tokens,
        budget_source: pressure.budget.source,
        ratio: pressure.ratio,
        threshold: pressure.threshold.ratio,
        threshold_source: pressure.threshold.source,
        warning: pressure.warning,
        over_threshold: pressure.overThreshold,
        state: pressure.state,
        boundary_id: pressure.boundaryId ?? null,
        cooldown_until: isoOrNull(pressure.cooldownUntil),
        retry_after: isoOrNull(pressure.retryAfter),
        would_summarize: pressure.wouldSummarize,
        would_keep: pressure.wouldKeep,
      });
    })
    .post('/summarize', async (c) => {
      const channel = await channelOf(c, deps);
      const body = await bodyOf(c, summarizeBody);
      const cursor = await store.getCursor(channel.id, c.var.principal.sub);
      const asked = body.until !== undefined || body.instructions !== undefined;
      const wantsAsync = c.req.header('prefer')?.includes('respond-async') === true;
      if (wantsAsync || (cursor.sums.tokens > SYNCHRONOUS_TOKENS && !asked)) return enqueue(c, channel);
      const outcome = await deps.compact({
        channelId: channel.id,
        userId: c.var.principal.sub,
        trigger: 'manual',
        deadline: clock() + DEADLINE_MS,
        ...defined(body),
      });
      if (outcome.status !== 'done') throw refusalOf(outcome);
      return c.json(presentResult(outcome.result));
    })
    .get('/compactions/:jobId', async (c) => {
      const channel = await channelOf(c, deps);
      return c.json(presentJob(await store.getJob(channel.id, c.req.param('jobId'))));
    });
}
