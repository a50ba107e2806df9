import { Hono } from 'hono';
import type { CompactOutcome } from '../../compaction/outcome.ts';
import { pressureOf } from '../../compaction/pressure.ts';
import { StoreError, SummarizerError } from '../../errors.ts';
import type { Job } from '../../ports.ts';
import { readSettings } from '../../settings/index.ts';
import type { Channel } from '../../treepath/channel.ts';
import type { HttpDeps } from '../deps.ts';
import { presentJob, presentPressure, presentResult } from '../presenters.ts';
import { refusalOf } from '../refusals.ts';
import { bodyOf, type Ctx, channelOf, type Env } from '../request.ts';
import { defined, summarizeBody } from '../schemas.ts';

/** The gateway gives up at 30 s; the work is aborted before that, and never cut. */
const DEADLINE_MS = 25_000;
/** A context above this many tokens may take longer than the gateway waits: the queue does it. */
const SYNCHRONOUS_TOKENS = 60_000;

const wantsAsync = (c: Ctx): boolean =>
  /(^|,)\s*respond-async\s*([,;]|$)/i.test(c.req.header('prefer') ?? '');

/** A model that did not answer before the deadline, and work of our own that the deadline stopped. */
const TOO_SLOW: ReadonlySet<string> = new Set(['timeout', 'aborted']);

const tookTooLong = (error: unknown): boolean => error instanceof SummarizerError && TOO_SLOW.has(error.code);

export function compactionRoutes(deps: HttpDeps): Hono<Env> {
  const { store, clock, newId } = deps;

  /** Throws `StoreError` (`queue_unavailable`); nobody then waits for the job. */
  async function enqueue(c: Ctx, channel: Channel): Promise<Response> {
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
    if (unsent.length > 0) {
      const message = 'The queue did not take the request; try again.';
      await store.putJob({ ...job, status: 'failed', error: { code: 'queue_unavailable', message } });
      throw new StoreError('queue_unavailable', message, { retryable: true });
    }
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
      return c.json(presentPressure(channel.id, context.cursor.leafId, pressure));
    })
    .post('/summarize', async (c) => {
      const channel = await channelOf(c, deps);
      const body = await bodyOf(c, summarizeBody);
      const { sub } = c.var.principal;
      // A queued request carries neither `until` nor `instructions`; these are done at once or not at all.
      const mayQueue = body.until === undefined && body.instructions === undefined;
      if (mayQueue && wantsAsync(c)) return enqueue(c, channel);
      const cursor = await store.getCursor(channel.id, sub);
      if (mayQueue && cursor.sums.tokens > SYNCHRONOUS_TOKENS) return enqueue(c, channel);
      let outcome: CompactOutcome;
      try {
        outcome = await deps.compact({
          channelId: channel.id,
          userId: sub,
          trigger: 'manual',
          deadline: clock() + DEADLINE_MS,
          ...defined(body),
        });
      } catch (error) {
        if (mayQueue && tookTooLong(error)) return enqueue(c, channel);
        throw error;
      }
      if (outcome.status !== 'done') throw refusalOf(outcome);
      return c.json(presentResult(outcome.result));
    })
    .get('/compactions/:jobId', async (c) => {
      const channel = await channelOf(c, deps);
      return c.json(presentJob(await store.getJob(channel.id, c.req.param('jobId'))));
    });
}
