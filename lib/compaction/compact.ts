import { AppError, RateLimitError, SummarizerError } from '../errors.ts';
import type {
  Clock,
  CompactionStore,
  ConversationStore,
  EventPublisher,
  Lease,
  LeaseEnd,
  Logger,
  ModelContext,
  NewId,
  RateLimiter,
  SettingsStore,
  SummaryDraft,
  UsageEntry,
} from '../ports.ts';
import { LEASE_MS, SUMMARY_TIMEOUT_MS } from '../settings/defaults.ts';
import { type ChannelLimits, type EffectiveSettings, limitsOf, readSettings } from '../settings/index.ts';
import { CHANNEL_PROFILE, type Profile } from '../settings/profiles.ts';
import type { Attempt, UtilityResult, UtilityRole } from '../summarizers/summarizer.ts';
import type { Channel } from '../treepath/channel.ts';
import { textOf } from '../treepath/content.ts';
import { backoffMs } from './backoff.ts';
import { measureContent } from './estimator/index.ts';
import { refuseAuto } from './guard.ts';
import { judge } from './judge.ts';
import { auditEntry, type EntryContext, usageEntries } from './ledger.ts';
import { logLines } from './log-lines.ts';
import type { Compact, CompactOutcome, CompactRequest, CompactResult, CompactSkip } from './outcome.ts';
import { type Plan, planCompaction } from './plan.ts';
import { summaryTokens } from './summary-size.ts';

export type CompactDeps = {
  readonly store: ConversationStore & CompactionStore & RateLimiter & SettingsStore;
  readonly utility: UtilityRole;
  /** Id of the summarizing model; its window in the catalog is the third step of A14. */
  readonly utilityModel?: string;
  readonly events: EventPublisher;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly logger: Logger;
  readonly profile?: Profile;
};

/** What one run knows once the lease is held and everything was read consistently. */
type Run = {
  readonly request: CompactRequest;
  readonly lease: Lease;
  readonly channel: Channel;
  readonly context: ModelContext;
  readonly settings: EffectiveSettings;
  readonly limits: ChannelLimits;
};

const RELEASED: LeaseEnd = { kind: 'released' };

/**
 * The compaction service (A3, design 6): lease, re-check, plan, rate limit, summarize, judge, apply in one
 * transaction, publish. Throws `RateLimitError` for a manual call over the limit and `SummarizerError` when no
 * summary could be had; the channel is then as it was (invariant 8).
 */
export function createCompact(deps: CompactDeps): Compact {
  const { store, clock, logger } = deps;
  const profile = deps.profile ?? CHANNEL_PROFILE;

  return async (request) => {
    const owner = request.correlationId ?? deps.newId();
    const takeOver = request.redelivered === true;
    const lease = await store.acquireLease(request.channelId, owner, {
      now: clock(),
      leaseMs: LEASE_MS,
      takeOver,
    });
    if (lease === undefined) {
      logger.info(logLines.skipped(request.channelId, 'in_flight'), { channel_id: request.channelId });
      return { status: 'busy' };
    }
    let run: Run;
    try {
      run = await read(deps, request, lease);
    } catch (error) {
      await store.endLease(lease, RELEASED, []);
      throw error;
    }
    return compactLeased(run);
  };

  async function compactLeased(run: Run): Promise<CompactOutcome> {
    const { channel, context, settings, limits } = run;
    const refusal =
      run.request.trigger === 'auto' ? refuseAuto(channel, context, settings, limits, clock()) : undefined;
    if (refusal) return skip(run, refusal.reason, refusal.remainingMs);

    const planned = planCompaction({
      context: run.context,
      profile,
      budgetTokens: run.limits.budget.tokens,
      trigger: run.request.trigger,
      ...(run.request.until === undefined ? {} : { until: run.request.until }),
    });
    if (planned.kind === 'skip') return skip(run, planned.reason);

    const permit = await store.take(run.request.trigger, run.settings.global.utility_rate_limit, clock());
    if (!permit.allowed) return overLimit(run, permit.retryAfterSeconds);

    logger.info(logLines.compacting(run.channel.id, run.request.userId, run.request.trigger), fields(run));
    let written: UtilityResult;
    try {
      written = await summarize(run, planned.plan);
    } catch (error) {
      return fail(run, error);
    }
    return apply(run, planned.plan, written);
  }

  async function skip(run: Run, reason: CompactSkip, remainingMs?: number): Promise<CompactOutcome> {
    await store.endLease(run.lease, RELEASED, []);
    logger.info(logLines.skipped(run.channel.id, reason, remainingMs), { ...fields(run), reason });
    return { status: 'skipped', reason, ...(remainingMs === undefined ? {} : { remainingMs }) };
  }

  /** A22: automatic compaction skips and comes back at the next scan; a person is told when to come back. */
  async function overLimit(run: Run, retryAfterSeconds: number): Promise<CompactOutcome> {
    const outcome = await skip(run, 'rate_limit');
    if (run.request.trigger === 'auto') return outcome;
    throw new RateLimitError('rate_limited', 'The hourly limit of summarizations is used up.', {
      retryable: true,
      details: { retryAfterSeconds },
    });
  }

  function summarize(run: Run, plan: Plan): Promise<UtilityResult> {
    const { context, request } = run;
    const previousSummary = context.summary && textOf(context.summary.content);
    const until = request.deadline === undefined ? SUMMARY_TIMEOUT_MS : request.deadline - clock();
    return deps.utility({
      messages: plan.summarize,
      ...(previousSummary === undefined ? {} : { previousSummary }),
      ...(request.instructions === undefined ? {} : { instructions: request.instructions }),
      maxTokens: summaryTokens(run.limits.budget.tokens, coveredTokens(context, plan)),
      signal: AbortSignal.timeout(Math.max(1, Math.min(SUMMARY_TIMEOUT_MS, until))),
      accept: (answer) =>
        judge(answer, {
          tokensBefore: context.cursor.sums.tokens,
          tokensAfterIfApplied: tokensAfter(context, plan, answer.text),
        }),
    });
  }

  async function apply(run: Run, plan: Plan, written: UtilityResult): Promise<CompactOutcome> {
    const { request, context, lease } = run;
    const now = clock();
    const entry: EntryContext = { channel: run.channel, request, now, newId: deps.newId };
    const applied = await store.apply({
      lease,
      userId: request.userId,
      plannedLeafId: leafOf(context),
      pinned: context.pinned,
      draft: draftOf(run, plan, written, profile),
      usage: usageEntries(written.attempts, written.usedFallback, entry),
      audit: auditEntry(plan.summarize.length, written.answer.model, entry),
      now,
    });
    if (applied.outcome !== 'applied') {
      logger.warn(logLines.skipped(run.channel.id, 'stale'), { ...fields(run), reason: applied.outcome });
      return { status: 'stale' };
    }
    const { metadata } = applied.summary;
    const result: CompactResult = {
      summaryId: applied.summary.id,
      summarizedCount: metadata.summarizedCount,
      model: metadata.model,
      usedFallback: metadata.usedFallback,
      content: written.answer.text,
      inputTokens: written.attempts.reduce((sum, attempt) => sum + attempt.inputTokens, 0),
      outputTokens: written.attempts.reduce((sum, attempt) => sum + attempt.outputTokens, 0),
      tokensBefore: metadata.tokensBefore,
      tokensAfter: metadata.tokensAfter,
    };
    logger.info(
      logLines.done(run.channel.id, result.summarizedCount, result.content.length, result.model),
      fields(run),
    );
    await announce(run, {
      tokens_before: result.tokensBefore,
      tokens_after: result.tokensAfter,
      summary: result.content,
      summary_id: result.summaryId,
    });
    return { status: 'done', result };
  }

  /** A failure that a later delivery may heal leaves no trace but its usage; a final one makes the channel back off. */
  async function fail(run: Run, error: unknown): Promise<never> {
    const now = clock();
    const cause =
      error instanceof AppError
        ? error
        : new SummarizerError('summarizer_failed', 'The summarizer failed.', { cause: error });
    const usage = failedUsage(cause, { channel: run.channel, request: run.request, now, newId: deps.newId });
    const final = !cause.retryable || run.request.lastAttempt === true;
    const failures = (run.channel.compaction.failures ?? 0) + 1;
    const cooldown = run.settings.global.auto_compaction_cooldown_minutes;
    const end: LeaseEnd = final
      ? { kind: 'failed', failures, retryAfter: now + backoffMs(failures, cooldown) }
      : RELEASED;
    await store.endLease(run.lease, noProgress(cause, run) ?? end, usage);
    logger.error(logLines.failed(run.channel.id, cause.code), { ...fields(run), retryable: cause.retryable });
    if (final) await announce(run, { error: cause.message, code: cause.code });
    throw cause;
  }

  async function announce(run: Run, body: Announcement): Promise<void> {
    const { request } = run;
    try {
      await deps.events.publishResult({
        session_id: run.channel.id,
        correlation_id: request.correlationId ?? run.lease.owner,
        trigger: request.trigger,
        ...body,
      });
    } catch (error) {
      // The summary is committed; a lost announcement must not bring the message back and pay for a second one.
      logger.warn('compaction: the result could not be published', { ...fields(run), error: String(error) });
    }
  }
}

type Announcement =
  | { tokens_before: number; tokens_after: number; summary: string; summary_id: string }
  | { error: string; code: string };

async function read(deps: CompactDeps, request: CompactRequest, lease: Lease): Promise<Run> {
  const [settings, channel, context] = await Promise.all([
    readSettings(deps.store, deps.utilityModel),
    deps.store.getChannel(request.channelId),
    deps.store.readContext(request.channelId, request.userId),
  ]);
  return { request, lease, channel, context, settings, limits: limitsOf(channel, settings) };
}

const fields = ({ channel, request, lease }: Run): Record<string, unknown> => ({
  channel_id: channel.id,
  trigger: request.trigger,
  correlation_id: request.correlationId ?? lease.owner,
});

function leafOf(context: ModelContext): string {
  if (context.cursor.leafId === null)
    throw new AppError('empty_conversation', 'The conversation has no messages.');
  return context.cursor.leafId;
}

const tokensOf = (messages: readonly { tokens: number }[]): number =>
  messages.reduce((sum, { tokens }) => sum + tokens, 0);

const coveredTokens = (context: ModelContext, plan: Plan): number =>
  tokensOf(plan.summarize) + (context.summary?.tokens ?? 0);

/** The model context as it would be with this summary: pinned messages, the summary, the kept tail. */
function tokensAfter(context: ModelContext, plan: Plan, summary: string): number {
  return tokensOf(context.pinned) + tokensOf(plan.keep) + measureContent(summary).tokens;
}

function draftOf(run: Run, plan: Plan, written: UtilityResult, profile: Profile): SummaryDraft {
  const { context, request } = run;
  const first = plan.summarize[0];
  const last = plan.summarize.at(-1);
  if (first === undefined || last === undefined)
    throw new AppError('empty_plan', 'A plan must cover a message.');
  return {
    content: written.answer.text,
    ...measureContent(written.answer.text),
    metadata: {
      type: 'summary',
      trigger: request.trigger,
      strategy: 'summary',
      coversFrom: first.id,
      coversUntil: last.id,
      summarizedCount: plan.summarize.length,
      tokensBefore: context.cursor.sums.tokens,
      model: written.answer.model,
      usedFallback: written.usedFallback,
      profile: profile.name,
      promptVersion: written.promptVersion,
      ...(context.summary === undefined ? {} : { previousSummaryId: context.summary.id }),
    },
  };
}

const isAttempts = (value: unknown): value is readonly Attempt[] => Array.isArray(value);

function failedUsage(error: AppError, entry: EntryContext): UsageEntry[] {
  const { attempts } = error.details;
  return isAttempts(attempts) ? usageEntries(attempts, attempts.length > 1, entry) : [];
}

/** Every answer was as large as what it would replace: nothing is tried again until the context has grown. */
function noProgress(error: AppError, run: Run): LeaseEnd | undefined {
  const { attempts } = error.details;
  const hopeless =
    isAttempts(attempts) && attempts.length > 0 && attempts.every(({ outcome }) => outcome === 'not_smaller');
  return hopeless ? { kind: 'no_progress', atTokens: run.context.cursor.sums.tokens } : undefined;
}
