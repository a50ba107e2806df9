import { estimateTokens, measureContent } from '../compaction/estimator/index.ts';
import type { Message } from '../treepath/message.ts';
import { partsOf, shortenToTokens, shownTokens } from './parts.ts';
import { mapInPool } from './pool.ts';
import type { Summarizer, SummaryAnswer, SummaryRequest } from './summarizer.ts';

/** Calls of one summarization that run at the same time. */
const CONCURRENCY = 3;
/** Notes take at most this share of the window, or merging them would never end. */
const NOTES_RATIO = 0.25;
/** The earlier summary takes at most this share of the window of the call that brings it up to date. */
const PREVIOUS_RATIO = 0.5;
/** The transcript has at least this share, however much else there is. */
const TRANSCRIPT_RATIO = 0.25;
/** A merge that needs parts of its own goes on only while the notes shrink to this share of what they cover. */
const CONDENSED_RATIO = 0.8;

export type PartOptions = {
  /** Parts that are summarized at the same time; 3 by default. */
  readonly concurrency?: number;
  /** More messages than this are summarized in two halves (D10). */
  readonly batchThreshold?: number;
};

const tokensOf = (messages: readonly Message[]): number =>
  messages.reduce((sum, message) => sum + shownTokens(message), 0);

const isUnusable = ({ stop, text }: SummaryAnswer): boolean => stop !== 'complete' || text.trim() === '';

/** What one call takes besides the transcript, cut to what the window allows. */
function fitted(request: SummaryRequest, window: number): SummaryRequest {
  if (!Number.isFinite(window)) return request;
  const { previousSummary } = request;
  return {
    ...request,
    maxTokens: Math.max(1, Math.min(request.maxTokens, Math.floor(window * NOTES_RATIO))),
    ...(previousSummary === undefined
      ? {}
      : { previousSummary: shortenToTokens(previousSummary, Math.floor(window * PREVIOUS_RATIO)) }),
  };
}

/** Tokens that are left for the transcript of a call. */
function roomOf({ previousSummary, instructions }: SummaryRequest, window: number): number {
  const others = [previousSummary, instructions].reduce((sum, text) => sum + estimateTokens(text ?? ''), 0);
  return Math.max(window - others, Math.max(1, window * TRANSCRIPT_RATIO));
}

/** The notes on one part, as a message that the merge condenses. */
const asMessage = ({ text }: SummaryAnswer, like: Message): Message => ({
  ...like,
  role: 'assistant',
  content: text,
  metadata: {},
  ...measureContent(text),
});

/** All notes one after the other, the earlier summary first; the judge says whether that is worth anything. */
const joined = (notes: readonly SummaryAnswer[], model: string, previous?: string): SummaryAnswer => ({
  text: [...(previous === undefined ? [] : [previous]), ...notes.map(({ text }) => text)].join('\n\n'),
  model,
  inputTokens: 0,
  outputTokens: 0,
  stop: 'complete',
});

/**
 * One summary of a transcript of any length: in one call when it fits, else in parts that are merged, and merged again
 * when the notes on the parts are themselves too long. The previous summary goes into the last merge (fault 1). An
 * answer on a part that cannot be used is the answer. `onCall` sees every answer as it comes, so that its usage is
 * recorded even when a later call fails. Throws what the summarizer throws.
 */
export async function summarizeInParts(
  summarizer: Summarizer,
  given: SummaryRequest,
  onCall: (answer: SummaryAnswer) => void,
  options: PartOptions = {},
): Promise<SummaryAnswer> {
  const { window } = summarizer;
  const request = fitted(given, window);
  const { previousSummary, ...withoutPrevious } = request;
  const call = async (part: SummaryRequest): Promise<SummaryAnswer> => {
    const answer = await summarizer.summarize(part);
    onCall(answer);
    return answer;
  };

  const [only, ...others] = partsOf(request.messages, roomOf(request, window), options.batchThreshold);
  if (only === undefined || others.length === 0) return call({ ...request, messages: only ?? [] });

  const parts = partsOf(request.messages, roomOf(withoutPrevious, window), options.batchThreshold);
  const mode = request.mode === 'merge' ? 'merge' : 'part';
  const notes = await mapInPool(
    parts,
    options.concurrency ?? CONCURRENCY,
    (messages) => call({ ...withoutPrevious, messages, mode }),
    isUnusable,
  );
  const unusable = notes.find(isUnusable);
  if (unusable !== undefined) return unusable;

  const messages = notes.flatMap((note, index) =>
    (parts[index] ?? []).slice(0, 1).map((like) => asMessage(note, like)),
  );
  const size = tokensOf(messages);
  const endless = size > roomOf(request, window) && size > tokensOf(request.messages) * CONDENSED_RATIO;
  if (endless) return joined(notes, summarizer.model, previousSummary);
  return summarizeInParts(summarizer, { ...request, messages, mode: 'merge' }, onCall, options);
}
