import type { ModelContext } from '../ports.ts';
import type { ChannelLimits, EffectiveSettings } from '../settings/index.ts';
import type { Channel } from '../treepath/channel.ts';
import type { CompactSkip } from './outcome.ts';

export type Refusal = { readonly reason: CompactSkip; readonly remainingMs?: number };

const MINUTE_MS = 60_000;

/** Milliseconds until automatic compaction of this channel is allowed again; 0 when it is now. A29. */
export function cooldownLeft(channel: Channel, cooldownMinutes: number, now: number): number {
  const last = channel.compaction.lastAutoAt;
  return last === undefined ? 0 : Math.max(0, last + cooldownMinutes * MINUTE_MS - now);
}

/** A19 (4): at or over the threshold of the budget. */
export const isOverThreshold = (tokens: number, { budget, threshold }: ChannelLimits): boolean =>
  tokens / budget.tokens >= threshold.ratio;

/**
 * Why an automatic compaction must not run now; checked with consistent reads under the lease, whatever the
 * index said (A19, A29, design 6.2).
 */
export function refuseAuto(
  channel: Channel,
  context: ModelContext,
  settings: EffectiveSettings,
  limits: ChannelLimits,
  now: number,
): Refusal | undefined {
  const { global } = settings;
  const { compaction } = channel;
  const { tokens } = context.cursor.sums;
  if (!global.auto_compaction_enabled || channel.settings.auto_compaction === false)
    return { reason: 'opted_out' };
  if (channel.archived) return { reason: 'archived' };
  const cooldown = cooldownLeft(channel, global.auto_compaction_cooldown_minutes, now);
  if (cooldown > 0) return { reason: 'cooldown', remainingMs: cooldown };
  const backoff = (compaction.retryAfter ?? 0) - now;
  if (backoff > 0) return { reason: 'backing_off', remainingMs: backoff };
  if (!isOverThreshold(tokens, limits)) return { reason: 'under_threshold' };
  if (compaction.noProgressAt !== undefined && tokens <= compaction.noProgressAt)
    return { reason: 'no_progress' };
  return undefined;
}
