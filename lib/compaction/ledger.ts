import type { AuditEntry, NewId, UsageEntry } from '../ports.ts';
import type { Attempt } from '../summarizers/summarizer.ts';
import type { Channel } from '../treepath/channel.ts';
import type { CompactRequest } from './outcome.ts';

export type EntryContext = {
  readonly channel: Channel;
  readonly request: CompactRequest;
  readonly now: number;
  readonly newId: NewId;
};

/** One usage entry per model call (A21, A34). */
export function usageEntries(
  attempts: readonly Attempt[],
  usedFallback: boolean,
  context: EntryContext,
): UsageEntry[] {
  const { channel, request, now, newId } = context;
  return attempts.map((attempt) => ({
    id: newId(),
    at: now,
    channelId: channel.id,
    userId: request.userId,
    ...(channel.teamId === undefined ? {} : { teamId: channel.teamId }),
    role: 'utility',
    model: attempt.model,
    inputTokens: attempt.inputTokens,
    outputTokens: attempt.outputTokens,
    metadata: { trigger: request.trigger, outcome: attempt.outcome, used_fallback: usedFallback },
  }));
}

/** A33. A manual compaction is audited under the person who asked. */
export function auditEntry(summarizedCount: number, model: string, context: EntryContext): AuditEntry {
  const { channel, request, now, newId } = context;
  return {
    id: newId(),
    at: now,
    actor: request.trigger === 'auto' ? 'system:compaction' : request.userId,
    action: `compaction.${request.trigger}`,
    resource: `channel:${channel.id}`,
    details: { summarized_count: summarizedCount, model, trigger: request.trigger },
  };
}
