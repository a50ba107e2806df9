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
