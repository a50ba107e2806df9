import type { Message, SummaryMessage, SummaryMetadata } from './message.ts';

/** A node that a compaction inserted (A10). */
export function isSummaryMessage(message: Message): message is SummaryMessage {
  return message.metadata.type === 'summary';
}

/** The metadata of a summary, `undefined` for any other message. */
export const summaryMetadata = (message: Message): SummaryMetadata | undefined =>
  isSummaryMessage(message) ? message.metadata : undefined;

/** The nearest summary at or above the end of a path. */
export const nearestSummary = (path: readonly Message[]): SummaryMessage | undefined =>
  path.findLast(isSummaryMessage);

/**
 * The model context of a path that starts at the root: leading system messages, the nearest summary, and every
 * non-summary message after what it covers (design 3).
 */
export function contextOfPath(path: readonly Message[]): {
  summary?: SummaryMessage;
  messages: readonly Message[];
} {
  const summary = nearestSummary(path);
  const plain = path.filter((message) => !isSummaryMessage(message));
  if (summary === undefined) return { messages: plain };
  return { summary, messages: plain.filter(({ id }) => id > summary.metadata.coversUntil) };
}
