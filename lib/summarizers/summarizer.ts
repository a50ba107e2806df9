import type { Message } from '../treepath/message.ts';

/** What a summarizer is given. Nothing here is an instruction: it is a transcript to be condensed. */
export type SummaryRequest = {
  /** In conversation order, oldest first; never empty. */
  readonly messages: readonly Message[];
  readonly previousSummary?: string;
  /** Upper bound of the summary, in estimated tokens. */
  readonly maxTokens: number;
  /** What the caller wants attention paid to; at most 2 000 characters, quoted like the transcript. */
  readonly instructions?: string;
  /**
   * `part`: other parts of the same conversation are summarized apart from this one. `merge`: the messages are the
   * summaries of such parts, oldest first. Absent: the whole.
   */
  readonly mode?: 'whole' | 'part' | 'merge';
  readonly signal?: AbortSignal;
};

export type SummaryAnswer = {
  readonly text: string;
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Why the model stopped: only `complete` answers are ever applied. */
  readonly stop: 'complete' | 'cut_off' | 'refusal';
};

/**
 * One way to write a summary. Throws `SummarizerError` with `retryable` set for throttles, overloads, time-outs and
 * network faults.
 */
export interface Summarizer {
  readonly model: string;
  readonly promptVersion: string;
  /** Tokens of transcript that one call takes; `Infinity` when there is no limit. */
  readonly window: number;
  summarize(request: SummaryRequest): Promise<SummaryAnswer>;
}

/** One call that was made, whatever became of its answer: all usage is recorded (design 3, invariant 6). */
export type Attempt = {
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** `ok`, or the code of the failure or refusal. */
  readonly outcome: string;
};

export type Judgement = { readonly ok: true } | { readonly ok: false; readonly reason: string };

export type UtilityRequest = SummaryRequest & {
  /** More messages than this are summarized in two halves that are merged (D10), whatever the window. */
  readonly batchThreshold?: number;
  /** Judges the final answer; a refused one goes to the next fallback. */
  readonly accept: (answer: SummaryAnswer) => Judgement;
};

export type UtilityResult = {
  readonly answer: SummaryAnswer;
  readonly usedFallback: boolean;
  readonly promptVersion: string;
  readonly attempts: readonly Attempt[];
};

/**
 * The utility role: primary, then fallbacks, in as many parts as the transcript needs. Throws `SummarizerError` whose
 * `details.attempts` holds every `Attempt`, retryable when at least one failure was.
 */
export type UtilityRole = (request: UtilityRequest) => Promise<UtilityResult>;
