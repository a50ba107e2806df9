import type { Cursor } from '../ports.ts';
import type { Message } from './message.ts';

/** Index of the next child of a parent that has `childCount` children: indexes have no gaps. */
export const nextSiblingIndex = (childCount: number): number => childCount;

/** The cursor after it moved to a message; `now` is epoch milliseconds. */
export function updateCursor(
  cursor: Pick<Cursor, 'channelId' | 'userId'>,
  leaf: Pick<Message, 'id' | 'depth' | 'sums'>,
  now: number,
): Cursor {
  return {
    channelId: cursor.channelId,
    userId: cursor.userId,
    leafId: leaf.id,
    leafDepth: leaf.depth,
    sums: leaf.sums,
    activeAt: now,
  };
}
