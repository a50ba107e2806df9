import { SUMMARY_BUDGET_RATIO, SUMMARY_MAX_TOKENS, SUMMARY_MIN_TOKENS } from '../settings/defaults.ts';

/** A summary takes at most this share of what it covers, or it would not be worth its price. */
const COVERED_RATIO = 0.25;

/**
 * Tokens that a summary may take: a tenth of the context's budget within fixed bounds, never more than a quarter of the
 * budget or of what it covers (the earlier summary included).
 */
export function summaryTokens(budgetTokens: number, coveredTokens: number): number {
  const share = Math.round(budgetTokens * SUMMARY_BUDGET_RATIO);
  const bounded = Math.min(Math.max(share, SUMMARY_MIN_TOKENS), SUMMARY_MAX_TOKENS);
  return Math.max(1, Math.floor(Math.min(bounded, budgetTokens / 4, coveredTokens * COVERED_RATIO)));
}
