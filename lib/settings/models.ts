/** The small model that summarizes unless another is configured; current and cheap. */
export const DEFAULT_MODEL_ID = 'claude-haiku-5-5';

/** Context window assumed for a Claude model that is summarizing, in tokens; every current one has at least this. */
const CLAUDE_WINDOW = 200_000;

/**
 * Assumed for any other model, in tokens. Too small costs a few more calls; too large would let a server cut the
 * transcript without a word.
 */
const OTHER_WINDOW = 32_000;

/** Context window of a summarizing model, in tokens, told by its id alone. */
export const utilityWindow = (modelId: string): number =>
  modelId.includes('claude') ? CLAUDE_WINDOW : OTHER_WINDOW;

/** Share of that window kept for the answer, the model's thinking included. */
export const UTILITY_OUTPUT_RATIO = 0.2;

/** Share of the rest that covers the error of the estimate: code and markup take up to a third more than estimated. */
export const UTILITY_ESTIMATE_MARGIN = 0.25;
