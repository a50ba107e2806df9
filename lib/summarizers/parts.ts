import { renderContent, renderMessage, shorten } from '../compaction/digest.ts';
import { MESSAGE_OVERHEAD } from '../compaction/estimator/estimator.ts';
import { estimateTokens, measureContent } from '../compaction/estimator/index.ts';
import type { Message } from '../treepath/message.ts';
import { splitTurns } from '../treepath/turns.ts';

/** A message that fills more than this share of the window is shortened, head and tail, with a note. */
const MAX_MESSAGE_RATIO = 0.5;

type Sized = { readonly message: Message; readonly tokens: number };
type Unit = { readonly messages: readonly Message[]; readonly tokens: number };

/** Estimated tokens of a message as a transcript shows it, which is less than it weighs when its tools said much. */
export const shownTokens = (message: Pick<Message, 'role' | 'content'>): number =>
  estimateTokens(renderMessage(message)) + MESSAGE_OVERHEAD;

/** Head and tail of a text within an estimate of `maxTokens` (at least a few characters), with a note. */
export function shortenToTokens(text: string, maxTokens: number): string {
  const tokens = estimateTokens(text);
  if (tokens <= maxTokens) return text;
  let chars = Math.floor((text.length * maxTokens) / tokens);
  let short = shorten(text, chars);
  // Head and tail can be in a denser script than the middle, and the note has its own weight.
  while (chars > 2 && estimateTokens(short) > maxTokens) {
    chars = Math.floor(chars * 0.8);
    short = shorten(text, chars);
  }
  return short;
}

/** Fits a message that is too much for one call; nothing is ever dropped without a note (fault 5). */
function sized(message: Message, window: number): Sized {
  const tokens = shownTokens(message);
  const limit = Math.max(1, Math.floor(window * MAX_MESSAGE_RATIO));
  if (tokens <= limit) return { message, tokens };
  const room = Math.max(1, limit - MESSAGE_OVERHEAD - estimateTokens(`${message.role}: `));
  const content = shortenToTokens(renderContent(message.content), room);
  const fitted = { ...message, content, ...measureContent(content) };
  return { message: fitted, tokens: shownTokens(fitted) };
}

const unitOf = (turn: readonly Sized[]): Unit => ({
  messages: turn.map(({ message }) => message),
  tokens: turn.reduce((sum, { tokens }) => sum + tokens, 0),
});

/** Groups in order, each within the window; a turn is divided only when it is larger than the window by itself. */
function packed(turns: readonly (readonly Message[])[], window: number): Message[][] {
  const units = turns
    .map((turn) => turn.map((message) => sized(message, window)))
    .flatMap((turn) =>
      unitOf(turn).tokens <= window ? [unitOf(turn)] : turn.map((message) => unitOf([message])),
    );
  const parts: Message[][] = [];
  let size = 0;
  for (const { messages, tokens } of units) {
    const current = parts.at(-1);
    if (current === undefined || size + tokens > window) {
      parts.push([...messages]);
      size = tokens;
    } else {
      current.push(...messages);
      size += tokens;
    }
  }
  return parts;
}

/** Two halves by number of messages, cut at the turn start nearest to the middle; one turn stays whole. */
function halves<T>(turns: readonly (readonly T[])[]): (readonly (readonly T[])[])[] {
  const total = turns.reduce((sum, turn) => sum + turn.length, 0);
  let before = 0;
  let best = { cut: 0, distance: total };
  for (const [index, turn] of turns.entries()) {
    const distance = Math.abs(before - total / 2);
    if (index > 0 && distance < best.distance) best = { cut: index, distance };
    before += turn.length;
  }
  return best.cut === 0 ? [turns] : [turns.slice(0, best.cut), turns.slice(best.cut)];
}

/**
 * The parts in which a transcript is summarized: one when it fits the window (tokens as shown), else as many as needed,
 * cut at turn starts. More than `batchThreshold` messages are at least two parts (D10). Every message is in exactly one.
 */
export function partsOf(messages: readonly Message[], window: number, batchThreshold?: number): Message[][] {
  const batched = batchThreshold !== undefined && messages.length > batchThreshold;
  if (window === Number.POSITIVE_INFINITY && !batched) return [[...messages]];
  const turns = splitTurns(messages);
  return (batched ? halves(turns) : [turns]).flatMap((half) => packed(half, window));
}
