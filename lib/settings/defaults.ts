/** Every default of the product in one place. Ratios are of the budget, times in the unit of the name. */

/** A14: the context window when nothing else is known, in tokens. */
export const DEFAULT_CONTEXT_BUDGET = 128_000;

/** A20: under the 75 % at which a chat interface warns, so that compaction comes first. */
export const DEFAULT_THRESHOLD = 0.7;
/** A20: the interface's warning bar. */
export const WARNING_RATIO = 0.75;

/** A18: a cursor below these never enters the pressure index. */
export const PRESSURE_MIN_MESSAGES = 10;
export const PRESSURE_MIN_CHARS = 20_000;

/** A18: leave a person time to finish typing; leave what nobody uses alone. */
export const QUIET_MS = 2 * 60_000;
export const ACTIVE_WITHIN_MS = 7 * 24 * 3_600_000;

/** A18: channels claimed per scan. */
export const MAX_CLAIMS_PER_SCAN = 50;
/** A claim that no compactor took ends after this; longer than the queue's retries of one message usually need. */
export const CLAIM_MS = 15 * 60_000;

/** A19. */
export const AUTO_MIN_PATH = 10;
export const AUTO_MIN_SINCE_BOUNDARY = 8;
/** A6. */
export const MANUAL_MIN_SINCE_BOUNDARY = 4;

/** X28: for the whole of one summarization. */
export const SUMMARY_TIMEOUT_MS = 120_000;
/** A lease outlives the work it guards, and little more, so that a crash heals soon. */
export const LEASE_MS = 180_000;

/** Back-off after a failure: 2^n × cooldown, at most this (design 6). */
export const MAX_BACKOFF_MS = 24 * 3_600_000;
/** Used for the back-off when the cooldown is set to nothing. */
export const MIN_BACKOFF_MS = 60_000;

/** Size of a summary: a share of the budget within these bounds, in tokens. */
export const SUMMARY_BUDGET_RATIO = 0.1;
export const SUMMARY_MIN_TOKENS = 256;
export const SUMMARY_MAX_TOKENS = 4_096;

/** Deliveries of one queue message before it goes to the dead-letter queue (design 1). */
export const MAX_RECEIVES = 5;

/** C7: an agent's turn that filled this share of its window asks for a compaction. */
export const AGENT_THRESHOLD = 0.8;
