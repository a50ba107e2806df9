import type { SkipReason } from '../ports.ts';
import type { Trigger } from '../treepath/message.ts';

/** A4, with what a caller may ask for beyond the document (design 6.5). */
export type CompactRequest = {
  readonly channelId: string;
  /** Whose cursor is compacted. */
  readonly userId: string;
  readonly trigger: Trigger;
  readonly until?: string;
  readonly instructions?: string;
  readonly correlationId?: string;
  /** This delivery follows one that did not end: its lease is taken over. */
  readonly redelivered?: boolean;
  /** No further delivery follows this one: a failure that could be retried counts as final. */
  readonly lastAttempt?: boolean;
  /** Epoch milliseconds by which the work must be over; the summarizer is aborted in time. */
  readonly deadline?: number;
};

/** A5. */
export type CompactResult = {
  readonly summaryId: string;
  readonly summarizedCount: number;
  readonly model: string;
  readonly usedFallback: boolean;
  readonly content: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Estimated tokens of the model context. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
};

export type CompactSkip = SkipReason | 'until_not_in_context';

export type CompactOutcome =
  | { readonly status: 'done'; readonly result: CompactResult }
  /** Another compaction of this channel is in flight. */
  | { readonly status: 'busy' }
  /** The conversation went to another branch while the model worked; nothing was changed. */
  | { readonly status: 'stale' }
  | { readonly status: 'skipped'; readonly reason: CompactSkip; readonly remainingMs?: number };

/** Compacts one conversation; see `createCompact`. */
export type Compact = (request: CompactRequest) => Promise<CompactOutcome>;
