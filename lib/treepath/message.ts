import type { MessageContent } from './content.ts';

export const ROLES = ['system', 'user', 'assistant', 'tool'] as const;
export type Role = (typeof ROLES)[number];

export type Trigger = 'manual' | 'auto';
export type Strategy = 'summary' | 'force';

/** What a summary says of itself (design 3). Ids are inclusive; token counts are estimates of the model context. */
export type SummaryMetadata = {
  readonly type: 'summary';
  readonly trigger: Trigger;
  readonly strategy: Strategy;
  readonly coversFrom: string;
  readonly coversUntil: string;
  readonly summarizedCount: number;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly model: string;
  readonly usedFallback: boolean;
  readonly profile: string;
  readonly promptVersion: string;
  readonly previousSummaryId?: string;
};

export type MessageMetadata = SummaryMetadata | { readonly type?: never; readonly [key: string]: unknown };

/**
 * Prefix sums along the path from the root to this message, this message included: what the model context of
 * this message weighs. `tokens` and `chars` count everything the model would see; `messages` leaves the boundary
 * summary out (A19 counts messages after the last summary).
 */
export type ContextSums = {
  readonly tokens: number;
  readonly messages: number;
  readonly chars: number;
  /** Nearest summary at or above this message. */
  readonly boundaryId?: string;
  /** `coversUntil` of that summary: the context continues right after this message id. */
  readonly after?: string;
  /** Leading system messages: they stay in the context for ever, above every summary. */
  readonly pinned: readonly string[];
};

export type Message = {
  readonly id: string;
  readonly channelId: string;
  readonly parentId: string | null;
  readonly siblingIndex: number;
  /** Messages above this one on its path; the root has 0. */
  readonly depth: number;
  readonly role: Role;
  readonly content: MessageContent;
  readonly metadata: MessageMetadata;
  /** Estimated tokens of this message alone, per-message overhead included. */
  readonly tokens: number;
  /** UTF-16 length of everything in the content that the model would read. */
  readonly chars: number;
  /** Context size that the provider reported right after this message; the anchor of the sums below it. */
  readonly reportedTokens?: number;
  readonly sums: ContextSums;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly deletedAt?: string;
};

export type SummaryMessage = Message & { readonly metadata: SummaryMetadata };
