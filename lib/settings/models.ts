/** The small model that summarizes unless another is configured; current and cheap. */
export const DEFAULT_MODEL_ID = 'claude-haiku-5-5';

/** Context window assumed for a summarizing model of unknown size, in tokens; every current Claude has at least this. */
export const UTILITY_WINDOW = 200_000;

/** Left free in that window for the prompt, the notes and the error of the estimate. */
export const UTILITY_RESERVE_RATIO = 0.25;
