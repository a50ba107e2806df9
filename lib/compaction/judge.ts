import type { Judgement, SummaryAnswer } from '../summarizers/summarizer.ts';
import { PROMPT_MARKS } from './prompt.ts';

/** A summary is worth its price when the context shrinks by at least this share (design 6.6). */
const MIN_SAVING = 0.1;

export type JudgeFacts = {
  /** Estimated tokens of the model context now, and with this answer in place. */
  readonly tokensBefore: number;
  readonly tokensAfterIfApplied: number;
};

export type Refusal = 'blank' | 'cut_off' | 'refusal' | 'echo' | 'not_smaller';

function refusalOf(answer: SummaryAnswer, facts: JudgeFacts): Refusal | undefined {
  if (answer.stop === 'refusal') return 'refusal';
  if (answer.text.trim() === '') return 'blank';
  if (answer.stop === 'cut_off') return 'cut_off';
  if (PROMPT_MARKS.some((mark) => answer.text.includes(mark))) return 'echo';
  if (facts.tokensAfterIfApplied > facts.tokensBefore * (1 - MIN_SAVING)) return 'not_smaller';
  return undefined;
}

/** Whether an answer may replace what it summarizes; the reason goes into the usage of the call. */
export function judge(answer: SummaryAnswer, facts: JudgeFacts): Judgement {
  const reason = refusalOf(answer, facts);
  return reason === undefined ? { ok: true } : { ok: false, reason };
}
