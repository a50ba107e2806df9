/** A channel's own overrides (A23). Absent means: inherit the global setting. */
export type ChannelSettings = {
  readonly auto_compaction?: boolean;
  /** Ratio of the budget, 0 < x ≤ 1. */
  readonly compaction_threshold?: number;
};

export type ChannelType = 'direct' | 'group';

/** What the compaction remembers on a channel between runs. Times are epoch milliseconds. */
export type CompactionState = {
  /** Fencing token: rises with every lease, so that a stale holder can never commit. */
  readonly fence: number;
  readonly lease?: { readonly owner: string; readonly expiresAt: number };
  /** The scanner queued this channel; until then no scan takes it again. */
  readonly claimedUntil?: number;
  readonly lastAutoAt?: number;
  readonly failures?: number;
  readonly retryAfter?: number;
  /** Context tokens at which no progress was possible; nothing is tried again until they have grown. */
  readonly noProgressAt?: number;
};

export type Channel = {
  readonly id: string;
  readonly ownerId: string;
  readonly teamId?: string;
  readonly title: string;
  readonly type: ChannelType;
  readonly model?: string;
  readonly providerConfigId?: string;
  readonly settings: ChannelSettings;
  readonly archived: boolean;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly compaction: CompactionState;
};
