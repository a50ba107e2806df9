import { StoreError } from '../errors.ts';
import type { ConversationStore, Cursor, PathMessage } from '../ports.ts';
import { updateCursor } from '../treepath/cursor.ts';
import type { Message } from '../treepath/message.ts';
import { getPathToLeaf } from '../treepath/path.ts';
import { getSiblings } from '../treepath/siblings.ts';
import { isSummaryMessage } from '../treepath/summary.ts';
import { assemble } from './content.ts';
import type { StoreContext } from './context.ts';
import type { Item } from './db.ts';
import { publicCursor, publicMessage, type StoredCursor, type StoredMessage } from './items.ts';
import { keys, ranges } from './keys.ts';
import { createReader, cursorOf, liveChannel, unknownMessage } from './read.ts';

type ContextStore = Pick<
  ConversationStore,
  'getCursor' | 'getMessage' | 'readContext' | 'readPath' | 'siblings'
>;

/** The path of a leaf out of what a range query brought, other branches left out. Starts right after the boundary. */
export function pathAfterBoundary(messages: readonly StoredMessage[], leafId: string): StoredMessage[] {
  const path = getPathToLeaf(messages, leafId);
  if (path.at(-1)?.id !== leafId)
    throw new StoreError('path_broken', `Message ${leafId} is missing from its channel.`);
  return path;
}

export function createContextStore(context: StoreContext): ContextStore {
  const { db } = context;
  const reader = createReader(context);

  /** The cursor whose context is read: the user's own, or one on another leaf. */
  async function cursorAt(channelId: string, userId: string, leafId?: string): Promise<Cursor> {
    const wanted = [keys.meta(channelId), keys.cursor(channelId, userId)];
    if (leafId !== undefined) wanted.push(keys.message(channelId, leafId));
    const [meta, cursorRead, leaf] = await db.batchGet(wanted);
    liveChannel(meta, channelId);
    const cursor: StoredCursor = cursorOf(cursorRead, channelId, userId);
    if (leafId === undefined || leafId === cursor.leafId) return publicCursor(cursor);
    if (leaf === undefined) throw unknownMessage(leafId);
    const node = { id: leafId, depth: Number(leaf.depth), sums: leaf.sums as Message['sums'] };
    return updateCursor(cursor, node, cursor.activeAt);
  }

  /** Newest part of a path, walking up page by page; one message more than shown, for the sibling count. */
  async function walkUp(channelId: string, leafId: string, limit: number): Promise<StoredMessage[]> {
    const path: StoredMessage[] = [];
    let wanted: string | null = leafId;
    let parts: Item[] = [];
    for await (const page of db.pages(ranges.messages(channelId, undefined, leafId), { reverse: true })) {
      for (const item of page) {
        if (item.partOf !== undefined) {
          parts.unshift(item);
          continue;
        }
        if (item.id === wanted) {
          const own = parts.filter(({ partOf }) => partOf === item.id);
          path.unshift(...assemble([item, ...own]));
          wanted = item.parentId === null ? null : String(item.parentId);
        }
        parts = [];
        if (wanted === null || path.length > limit) return path;
      }
    }
    return path;
  }

  return {
    async getCursor(channelId, userId) {
      return publicCursor((await reader.channelAndCursor(channelId, userId)).cursor);
    },

    async getMessage(channelId, messageId) {
      const [meta, head] = await db.batchGet([keys.meta(channelId), keys.message(channelId, messageId)]);
      liveChannel(meta, channelId);
      if (head === undefined) throw unknownMessage(messageId);
      if (Number(head.parts) === 0) return assemble([head]).map(publicMessage)[0] as Message;
      return publicMessage(await reader.message(channelId, messageId));
    },

    async readContext(channelId, userId, leafId) {
      const cursor = await cursorAt(channelId, userId, leafId);
      if (cursor.leafId === null) return { cursor, pinned: [], messages: [] };
      const { after, pinned, boundaryId } = cursor.sums;
      // Without a boundary the range starts at the root and holds the pinned messages already.
      const [found, above] = await Promise.all([
        reader.range(channelId, after, cursor.leafId),
        boundaryId === undefined || pinned.length === 0 ? [] : reader.messages(channelId, pinned),
      ]);
      const path = pathAfterBoundary(found, cursor.leafId).map(publicMessage);
      const summary = path.find((message) => message.id === boundaryId);
      const isPinned = ({ id }: Message): boolean => pinned.includes(id);
      return {
        cursor,
        ...(summary !== undefined && isSummaryMessage(summary) ? { summary } : {}),
        pinned:
          boundaryId === undefined
            ? path.filter(isPinned)
            : above.flatMap((m) => (m ? [publicMessage(m)] : [])),
        messages: path.filter((message) => !isSummaryMessage(message) && !isPinned(message)),
      };
    },

    async readPath(channelId, userId, { limit, before }) {
      const { channel, cursor } = await reader.channelAndCursor(channelId, userId);
      const from = before === undefined ? cursor.leafId : (await reader.message(channelId, before)).parentId;
      if (from === null) return { messages: [] };
      const path = await walkUp(channelId, from, limit);
      const counted = path.map((message, index): PathMessage => {
        const above = path[index - 1];
        const siblingCount = message.parentId === null ? channel.rootCount : (above?.childCount ?? 1);
        return { ...publicMessage(message), siblingCount };
      });
      const messages = counted.slice(-limit);
      const oldest = messages[0];
      return oldest === undefined || oldest.parentId === null ? { messages } : { messages, next: oldest.id };
    },

    async siblings(channelId, messageId) {
      const meta = await db.get(keys.meta(channelId));
      liveChannel(meta, channelId);
      const message = await reader.message(channelId, messageId);
      const later = assemble(await db.queryAll(ranges.messages(channelId, message.parentId ?? undefined)));
      return getSiblings(later, message).map(publicMessage);
    },
  };
}
