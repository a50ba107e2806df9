import type { Judgement, SummaryAnswer } from '../summarizers/summarizer.ts';
import { repeatsPrompt } from './prompt.ts';

/** A summary is worth its price when the context shrinks by at least this share (design 6.6). */
const MIN_SAVING = 0.1;

export type JudgeFacts = {
  /** Estimated tokens of the model context now, and with this answer in place. */
  readonly tokensBefore: number;
  readonly tokensAfterIfApplied: number;
};

export type Refusal = 'blank' | 'cut_off' | 'refusal' | 'echo' | 'not_smaller';

/** Something is said below the headings: a heading alone once replaced a whole history (field case: empty answer). */
const saysSomething = (text: string): boolean =>
  text
    .split('\n')
    .some((line) => !/^\s*#{1,6}\s/.test(line) && /[\p{L}\p{N}\p{Extended_Pictographic}]/u.test(line));

function refusalOf(answer: SummaryAnswer, facts: JudgeFacts): Refusal | undefined {
  if (answer.stop === 'refusal') return 'refusal';
  if (!saysSomething(answer.text)) return 'blank';
  if (answer.stop === 'cut_off') return 'cut_off';
  if (repeatsPrompt(answer.text)) return 'echo';
  if (facts.tokensAfterIfApplied > facts.tokensBefore * (1 - MIN_SAVING)) return 'not_smaller';
  return undefined;
}

/** Whether an answer may replace what it summarizes; the reason goes into the usage of the call. */
export function judge(answer: SummaryAnswer, facts: JudgeFacts): Judgement {
  const reason = refusalOf(answer, facts);
  return reason === undefined ? { ok: true } : { ok: false, reason };
}
