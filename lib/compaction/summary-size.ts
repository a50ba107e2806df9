import { SUMMARY_BUDGET_RATIO, SUMMARY_MAX_TOKENS, SUMMARY_MIN_TOKENS } from '../settings/defaults.ts';

/** Tokens that a summary may take in a context of `budgetTokens`: a tenth, within fixed bounds, never half of it. */
export function summaryTokens(budgetTokens: number): number {
  const share = Math.round(budgetTokens * SUMMARY_BUDGET_RATIO);
  const bounded = Math.min(Math.max(share, SUMMARY_MIN_TOKENS), SUMMARY_MAX_TOKENS);
  return Math.max(1, Math.min(bounded, Math.floor(budgetTokens / 4)));
}
