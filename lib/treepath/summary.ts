import type { Message, SummaryMessage, SummaryMetadata } from './message.ts';

/** A node that a compaction inserted (A10). */
export function isSummaryMessage(message: Message): message is SummaryMessage {
  return message.metadata.type === 'summary';
}

/** The metadata of a summary, `undefined` for any other message. */
export const summaryMetadata = (message: Message): SummaryMetadata | undefined =>
  isSummaryMessage(message) ? message.metadata : undefined;

/**
 * The model context of a path that starts at the root: pinned system messages, the nearest summary, and every
 * non-summary message after what it covers (design 3).
 */
export function contextOfPath<M extends Message>(
  path: readonly M[],
): { pinned: readonly M[]; summary?: M & SummaryMessage; messages: readonly M[] } {
  const summary = path.findLast((message): message is M & SummaryMessage => isSummaryMessage(message));
  const pinnedIds = new Set(path.at(-1)?.sums.pinned);
  const pinned = path.filter(({ id }) => pinnedIds.has(id));
  const after = path.slice(path.findIndex(({ id }) => id === summary?.metadata.coversUntil) + 1);
  const messages = after.filter((message) => !isSummaryMessage(message) && !pinnedIds.has(message.id));
  return summary === undefined ? { pinned, messages } : { pinned, summary, messages };
}
