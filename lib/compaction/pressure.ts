import type { ModelContext } from '../ports.ts';
import { WARNING_RATIO } from '../settings/defaults.ts';
import { type EffectiveSettings, limitsOf } from '../settings/index.ts';
import { CHANNEL_PROFILE } from '../settings/profiles.ts';
import type { Channel } from '../treepath/channel.ts';
import { cooldownLeft, isOverThreshold } from './guard.ts';
import { planCompaction } from './plan.ts';

/** How a conversation stands to its window, and what a compaction by hand would do now. Changes nothing. */
export function pressureOf(
  channel: Channel,
  context: ModelContext,
  settings: EffectiveSettings,
  now: number,
) {
  const limits = limitsOf(channel, settings);
  const { tokens, messages, chars, boundaryId } = context.cursor.sums;
  const planned = planCompaction({
    context,
    profile: CHANNEL_PROFILE,
    budgetTokens: limits.budget.tokens,
    trigger: 'manual',
  });
  const plan = planned.kind === 'plan' ? planned.plan : undefined;
  const ratio = tokens / limits.budget.tokens;
  const { lease, retryAfter } = channel.compaction;
  const cooldown = cooldownLeft(channel, settings.global.auto_compaction_cooldown_minutes, now);
  return {
    tokens,
    messages,
    chars,
    boundaryId,
    ...limits,
    ratio,
    warning: ratio >= WARNING_RATIO,
    overThreshold: isOverThreshold(tokens, limits),
    state: lease !== undefined && lease.expiresAt > now ? ('compacting' as const) : ('idle' as const),
    cooldownUntil: cooldown > 0 ? now + cooldown : undefined,
    retryAfter: retryAfter !== undefined && retryAfter > now ? retryAfter : undefined,
    wouldSummarize: plan?.summarize.length ?? 0,
    wouldKeep: plan?.keep.length ?? context.messages.length,
    keptTurns: plan?.keptTurns ?? 0,
  };
}
