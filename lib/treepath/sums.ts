import type { ContextSums, Message } from './message.ts';
import { isSummaryMessage } from './summary.ts';

type Weighed = Pick<Message, 'id' | 'role' | 'tokens' | 'chars' | 'reportedTokens'>;

export const EMPTY_SUMS: ContextSums = { tokens: 0, messages: 0, chars: 0, pinned: [] };

/** Every message carries the list of pinned ones; a conversation of system messages must not make them all grow. */
const MAX_PINNED = 32;

/** A system message with nothing but system messages above it stays in the context for ever. */
const isPinned = (message: Weighed, parent: ContextSums): boolean =>
  message.role === 'system' &&
  parent.boundaryId === undefined &&
  parent.messages === parent.pinned.length &&
  parent.pinned.length < MAX_PINNED;

/** Sums of a plain message below `parent`. What the provider reported for the context replaces the estimate. */
export function extendSums(parent: ContextSums, message: Weighed): ContextSums {
  return {
    ...parent,
    tokens: message.reportedTokens ?? parent.tokens + message.tokens,
    messages: parent.messages + 1,
    chars: parent.chars + message.chars,
    pinned: isPinned(message, parent) ? [...parent.pinned, message.id] : parent.pinned,
  };
}

/** Sums of a summary: itself, the pinned messages, and the kept tail that stands above it. */
export function summarySums(
  summary: Pick<Message, 'id' | 'tokens' | 'chars'>,
  coversUntil: string,
  pinned: readonly Pick<Message, 'id' | 'tokens' | 'chars'>[],
  tail: readonly Pick<Message, 'tokens' | 'chars'>[],
): ContextSums {
  const verbatim = [...pinned, ...tail];
  return {
    tokens: verbatim.reduce((sum, { tokens }) => sum + tokens, summary.tokens),
    messages: tail.length,
    chars: verbatim.reduce((sum, { chars }) => sum + chars, summary.chars),
    boundaryId: summary.id,
    after: coversUntil,
    pinned: pinned.map(({ id }) => id),
  };
}

/** Recomputes the sums of the last message of a whole path from nothing; what the stored ones must equal. */
export function recomputeSums(path: readonly Message[]): ContextSums {
  return path.reduce<{ sums: ContextSums; seen: Message[] }>(
    ({ sums, seen }, message) => {
      const next = isSummaryMessage(message)
        ? summarySums(
            message,
            message.metadata.coversUntil,
            seen.filter(({ id }) => sums.pinned.includes(id)),
            seen.filter((above) => above.id > message.metadata.coversUntil && !isSummaryMessage(above)),
          )
        : extendSums(sums, message);
      return { sums: next, seen: [...seen, message] };
    },
    { sums: EMPTY_SUMS, seen: [] },
  ).sums;
}
