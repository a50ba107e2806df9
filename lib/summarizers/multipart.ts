import { shorten } from '../compaction/digest.ts';
import { measureContent } from '../compaction/estimator/index.ts';
import { textOf } from '../treepath/content.ts';
import type { Message } from '../treepath/message.ts';
import { splitTurns } from '../treepath/turns.ts';
import type { Summarizer, SummaryAnswer, SummaryRequest } from './summarizer.ts';

/** Calls of one summarization that run at the same time. */
const PARALLEL = 3;
/** A turn that fills more than this share of the window is shortened, head and tail, with a note. */
const MAX_MESSAGE_RATIO = 0.5;
/** Tokens are at least this many characters apart in the worst script, so a shortened text surely fits. */
const SAFE_CHARS_PER_TOKEN = 0.8;

const tokensOf = (messages: readonly Message[]): number =>
  messages.reduce((sum, { tokens }) => sum + tokens, 0);

/** Fits a message that no window could take; nothing is ever dropped without a note (fault 5). */
function fitted(message: Message, window: number): Message {
  const limit = window * MAX_MESSAGE_RATIO;
  if (message.tokens <= limit) return message;
  const text = textOf(message.content) || JSON.stringify(message.content);
  const content = shorten(text, Math.floor(limit * SAFE_CHARS_PER_TOKEN));
  return { ...message, content, ...measureContent(content) };
}

/** Groups in order, each within the window; a turn is divided only when it is larger than the window by itself. */
export function partsOf(messages: readonly Message[], window: number): Message[][] {
  const units = splitTurns(messages.map((message) => fitted(message, window))).flatMap((turn) =>
    tokensOf(turn) <= window ? [[...turn]] : turn.map((message) => [message]),
  );
  const parts: Message[][] = [];
  let size = 0;
  for (const unit of units) {
    const tokens = tokensOf(unit);
    const current = parts.at(-1);
    if (current === undefined || size + tokens > window) {
      parts.push([...unit]);
      size = tokens;
    } else {
      current.push(...unit);
      size += tokens;
    }
  }
  return parts;
}

/** Results in the order of the inputs, a few at a time; the first failure ends it. */
async function mapBounded<T, R>(inputs: readonly T[], work: (input: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const queue = inputs.entries();
  const worker = async (): Promise<void> => {
    for (const [index, input] of queue) results[index] = await work(input);
  };
  await Promise.all(Array.from({ length: Math.min(PARALLEL, inputs.length) }, worker));
  return results;
}

/** The notes on one part, as a message of the transcript that the merge condenses. */
function asMessage(answer: SummaryAnswer, like: Message): Message {
  return { ...like, role: 'assistant', content: answer.text, metadata: {}, ...measureContent(answer.text) };
}

const joined = (notes: readonly SummaryAnswer[]): SummaryAnswer => ({
  text: notes.map(({ text }) => text).join('\n\n'),
  model: notes[0]?.model ?? '',
  inputTokens: 0,
  outputTokens: 0,
  stop: 'complete',
});

/**
 * One summary of a transcript of any length: in one call when it fits, else in parts that are merged, and merged again
 * when the notes on the parts are themselves too long. The previous summary goes into the last merge (fault 1).
 * `onCall` sees every answer as it comes, so that its usage is recorded even when a later call fails.
 */
export async function summarizeInParts(
  summarizer: Summarizer,
  request: SummaryRequest,
  onCall: (answer: SummaryAnswer) => void,
): Promise<SummaryAnswer> {
  const call = async (part: SummaryRequest): Promise<SummaryAnswer> => {
    const answer = await summarizer.summarize(part);
    onCall(answer);
    return answer;
  };
  const parts = partsOf(request.messages, summarizer.window);
  const [only] = parts;
  if (parts.length <= 1 && only !== undefined) return call({ ...request, messages: only });

  const { previousSummary: _previous, ...withoutPrevious } = request;
  // Notes on the parts must together be shorter than the parts, or merging them would never end.
  const maxTokens = Math.max(1, Math.min(request.maxTokens, Math.floor(summarizer.window / 4)));
  const notes = await mapBounded(parts, (messages) => call({ ...withoutPrevious, maxTokens, messages }));
  const incomplete = notes.find(({ stop, text }) => stop !== 'complete' || text.trim() === '');
  if (incomplete) return incomplete;
  const like = request.messages[0] as Message;
  const merged = notes.map((note) => asMessage(note, like));
  // A model that does not condense is told by the judge, not by an endless merge.
  if (tokensOf(merged) >= tokensOf(request.messages)) return joined(notes);
  return summarizeInParts(summarizer, { ...request, messages: merged }, onCall);
}
