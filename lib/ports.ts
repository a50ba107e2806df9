import type { Channel, ChannelSettings, ChannelType } from './treepath/channel.ts';
import type { MessageContent } from './treepath/content.ts';
import type {
  ContextSums,
  Message,
  Role,
  SummaryMessage,
  SummaryMetadata,
  Trigger,
} from './treepath/message.ts';

/** Epoch milliseconds of now; injected, so that the domain never reads a clock. */
export type Clock = () => number;
/** A new time-sortable id that sorts after `after`, whatever the clock says. */
export type NewId = (after?: string | null) => string;

/** Estimated tokens of a content, per-message overhead included, and its UTF-16 length. */
export type Measure = (content: MessageContent) => { tokens: number; chars: number };

/** What one user sees of a channel: the leaf of the active path, with what that leaf weighs. */
export type Cursor = {
  readonly channelId: string;
  readonly userId: string;
  readonly leafId: string | null;
  readonly leafDepth: number;
  readonly sums: ContextSums;
  /** Epoch milliseconds of the last append or switch through this cursor. */
  readonly activeAt: number;
};

export type NewMessage = {
  readonly role: Role;
  readonly content: MessageContent;
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Context tokens that the provider reported for the turn that this message ends. */
  readonly reportedTokens?: number;
};

export type AppendRequest = NewMessage & {
  readonly channelId: string;
  readonly userId: string;
  /** Absent: below the cursor's leaf. `null`: a new root. */
  readonly parentId?: string | null;
  /** An explicit branch (edit, regenerate) is never redirected below a summary. */
  readonly branch?: boolean;
  readonly idempotencyKey?: string;
};

export type AppendResult = {
  readonly message: Message;
  /** The parent that was asked for, when the message went below a newer summary instead. */
  readonly redirectedFrom?: string;
  /** The same idempotency key and body were seen before; this is the first result. */
  readonly replayed: boolean;
};

export type ImportedMessage = NewMessage & {
  /** Name of this message in the import, unique there; kept as `metadata.source_id`. */
  readonly ref: string;
  readonly parentRef: string | null;
  readonly createdAt?: string;
};

export type NewChannel = {
  readonly ownerId: string;
  readonly teamId?: string;
  readonly title: string;
  readonly type: ChannelType;
  readonly model?: string;
  readonly providerConfigId?: string;
  readonly settings: ChannelSettings;
  /** Epoch milliseconds of the last activity, for imports; never in the future. Absent: now. */
  readonly activeAt?: number;
};

export type ChannelPatch = {
  readonly title?: string;
  readonly archived?: boolean;
  readonly model?: string | null;
  /** `null` for a key goes back to the inherited value. */
  readonly settings?: { readonly [K in keyof ChannelSettings]?: ChannelSettings[K] | null };
};

/** The messages that a model call would see, oldest first: pinned system messages, summary, then what came after. */
export type ModelContext = {
  readonly cursor: Cursor;
  readonly summary?: SummaryMessage;
  readonly pinned: readonly Message[];
  /** Everything after the boundary, in path order; no summaries. */
  readonly messages: readonly Message[];
};

export type PathMessage = Message & { readonly siblingCount: number };

/** The conversation tree and its table. Every method reads consistently and throws the errors of `errors.ts`. */
export interface ConversationStore {
  createChannel(channel: NewChannel): Promise<Channel>;
  /** A whole tree at once. The channel exists only when all of it is written; order and branches are kept. */
  importChannel(
    channel: NewChannel,
    messages: readonly ImportedMessage[],
    currentRef: string | null,
  ): Promise<Channel>;
  /** Throws `NotFoundError` for an unknown or deleted channel, as every method below. */
  getChannel(channelId: string): Promise<Channel>;
  listChannels(
    ownerId: string,
    page: { limit: number; after?: string },
  ): Promise<{ channels: readonly Channel[]; next?: string }>;
  updateChannel(channelId: string, patch: ChannelPatch): Promise<Channel>;
  /** Soft: nothing is erased, but every read answers "not found". */
  deleteChannel(channelId: string): Promise<void>;

  append(request: AppendRequest): Promise<AppendResult>;
  getCursor(channelId: string, userId: string): Promise<Cursor>;
  getMessage(channelId: string, messageId: string): Promise<Message>;
  /** Moves the cursor to the newest leaf at or below `messageId`. */
  switchCursor(channelId: string, userId: string, messageId: string): Promise<Cursor>;
  /** The context of the cursor's leaf, or of another leaf. Never reads messages before the boundary. */
  readContext(channelId: string, userId: string, leafId?: string): Promise<ModelContext>;
  /** Root to leaf, newest `limit` messages at most; `before` pages upwards. */
  readPath(
    channelId: string,
    userId: string,
    page: { limit: number; before?: string },
  ): Promise<{ messages: readonly PathMessage[]; next?: string }>;
  siblings(channelId: string, messageId: string): Promise<readonly Message[]>;
  /** Moves the cursor to the parent of its boundary summary; throws `ConflictError` when there is none. */
  undoSummary(channelId: string, userId: string): Promise<Cursor>;
  /** Moves the cursor back to a summary that was undone. */
  redoSummary(channelId: string, userId: string): Promise<Cursor>;
}

/** One cursor found in the pressure index; eventually consistent, so everything is checked again by the claim. */
export type Candidate = {
  readonly channelId: string;
  readonly userId: string;
  readonly tokens: number;
  /** Messages since the boundary. */
  readonly messages: number;
  readonly activeAt: number;
  readonly modelKey: string;
  /** The channel's own threshold, when it has one. */
  readonly threshold?: number;
};

export type PressureQuery = {
  readonly modelKey: string;
  /** Channels that follow the default threshold: `minTokens` is tokens. Overridden: tokens ÷ own threshold. */
  readonly half: 'default' | 'overridden';
  readonly minTokens: number;
  readonly limit: number;
};

export type SkipReason =
  | 'opted_out'
  | 'cooldown'
  | 'backing_off'
  | 'in_flight'
  | 'queued'
  | 'archived'
  | 'deleted'
  | 'too_fresh'
  | 'stale'
  | 'too_few_messages'
  | 'under_threshold'
  | 'turn_in_flight'
  | 'no_progress'
  | 'rate_limit';

export type ClaimResult =
  | { readonly claimed: true; readonly channel: Channel }
  | { readonly claimed: false; readonly reason: SkipReason; readonly remainingMs?: number };

/** What the scanner needs of the table. */
export interface PressureStore {
  /** Keys under which channels are indexed: model id, or `config:<provider_config_id>`, or `-`. */
  listModelKeys(): Promise<readonly string[]>;
  /** Most pressed first. */
  findPressed(query: PressureQuery): Promise<readonly Candidate[]>;
  /** One conditional write: refused while leased, claimed, cooling down, backing off, archived, deleted or opted out. */
  claim(
    channelId: string,
    options: { tokens: number; now: number; claimMs: number; cooldownMs: number },
  ): Promise<ClaimResult>;
  releaseClaim(channelId: string): Promise<void>;
}

export type Lease = { readonly channelId: string; readonly owner: string; readonly fence: number };

export type UsageEntry = {
  readonly id: string;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly channelId: string;
  readonly userId: string;
  readonly teamId?: string;
  readonly role: 'utility';
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly metadata: { readonly trigger: Trigger; readonly outcome: string; readonly used_fallback: boolean };
};

export type AuditEntry = {
  readonly id: string;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly actor: string;
  readonly action: string;
  readonly resource: string;
  readonly details: Readonly<Record<string, unknown>>;
};

export type SummaryDraft = {
  readonly content: string;
  readonly tokens: number;
  readonly chars: number;
  /** `tokensAfter` is filled in by the store, which knows where the summary lands. */
  readonly metadata: Omit<SummaryMetadata, 'tokensAfter'>;
};

export type ApplyRequest = {
  readonly lease: Lease;
  readonly userId: string;
  /** The leaf that the plan was made for. */
  readonly plannedLeafId: string;
  /** Leading system messages of the path; they stay above the summary and count in its context. */
  readonly pinned: readonly Message[];
  readonly draft: SummaryDraft;
  /** Every model call of this compaction; written in the same transaction. */
  readonly usage: readonly UsageEntry[];
  readonly audit: AuditEntry;
  readonly now: number;
};

export type ApplyResult =
  | { readonly outcome: 'applied'; readonly summary: SummaryMessage }
  /** The cursor went to another branch, or the channel was deleted, archived or opted out meanwhile. */
  | { readonly outcome: 'stale' }
  /** The lease ran out and someone else has it. */
  | { readonly outcome: 'lease_lost' };

export type LeaseEnd =
  /** Nothing was tried: the claim and the lease go, the rest stays. */
  | { readonly kind: 'released' }
  | { readonly kind: 'no_progress'; readonly atTokens: number }
  | { readonly kind: 'failed'; readonly failures: number; readonly retryAfter: number };

/** What a compaction needs of the table beside `ConversationStore`. */
export interface CompactionStore {
  /**
   * Refused (`undefined`) while another lease is live. A redelivered message takes over the lease of its own first
   * delivery, which is over by then (`takeOver`); the fencing token rises all the same.
   */
  acquireLease(
    channelId: string,
    owner: string,
    options: { now: number; leaseMs: number; takeOver?: boolean },
  ): Promise<Lease | undefined>;
  /** One transaction, conditional on the lease and on the cursor (design 6.7). */
  apply(request: ApplyRequest): Promise<ApplyResult>;
  /** Gives the lease up, recording why, and the usage of calls whose result was not applied. Harmless when lost. */
  endLease(lease: Lease, end: LeaseEnd, usage: readonly UsageEntry[]): Promise<void>;
}

/** Calls per hour of the utility role, one counter item an hour (A21). */
export interface RateLimiter {
  /** Takes one call from the hour's budget; `limit` 0 means unlimited. */
  take(
    trigger: Trigger,
    limit: number,
    now: number,
  ): Promise<{ allowed: boolean; retryAfterSeconds: number }>;
}

export interface SettingsStore {
  /** Every global setting that was ever set; defaults are not filled in. */
  readGlobal(): Promise<Readonly<Record<string, unknown>>>;
  writeGlobal(key: string, value: unknown, audit: AuditEntry): Promise<void>;
  /** Context window in tokens of a model or `config:<id>`, when the catalog has one above 0. */
  readCatalog(): Promise<Readonly<Record<string, number>>>;
  writeCatalog(modelKey: string, maxContext: number, audit: AuditEntry): Promise<void>;
}

export interface ScanState {
  /** One conditional write: true for exactly one caller per interval. */
  startScan(now: number, intervalMs: number): Promise<boolean>;
}

export interface Ledger {
  listUsage(day: string): Promise<readonly UsageEntry[]>;
  listAudit(month: string): Promise<readonly AuditEntry[]>;
}

export type Job = {
  readonly id: string;
  readonly channelId: string;
  readonly status: 'queued' | 'running' | 'done' | 'failed';
  readonly createdAt: string;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: string; readonly message: string };
};

/** Compactions that a caller may poll (202); kept for a day. */
export interface JobStore {
  putJob(job: Job): Promise<void>;
  getJob(channelId: string, jobId: string): Promise<Job>;
}

/** Sends a compaction to the queue. */
export type CompactionMessage = {
  readonly channel_id: string;
  readonly user_id: string;
  readonly trigger: Trigger;
  readonly job_id?: string;
  readonly correlation_id: string;
};
export interface CompactionQueue {
  /** Returns those that could not be sent. */
  send(messages: readonly CompactionMessage[]): Promise<readonly CompactionMessage[]>;
}

export type CompactionResultEvent = {
  readonly session_id: string;
  readonly correlation_id: string;
  readonly trigger: Trigger;
} & (
  | {
      readonly tokens_before: number;
      readonly tokens_after: number;
      readonly summary: string;
      readonly summary_id: string;
    }
  | { readonly error: string; readonly code: string }
);
export interface EventPublisher {
  publishResult(event: CompactionResultEvent): Promise<void>;
}

export interface Logger {
  debug(message: string, fields?: Record<string, unknown>): void;
  info(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  error(message: string, fields?: Record<string, unknown>): void;
}
