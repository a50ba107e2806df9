import { StoreError } from '../errors.ts';
import type { ConversationStore, Cursor, PathMessage } from '../ports.ts';
import type { Message } from '../treepath/message.ts';
import { getPathToLeaf } from '../treepath/path.ts';
import { getSiblings } from '../treepath/siblings.ts';
import { isSummaryMessage } from '../treepath/summary.ts';
import { assemble } from './content.ts';
import type { StoreContext } from './context.ts';
import type { Item } from './db.ts';
import { cursorOn, publicCursor, publicMessage, type StoredMessage, toBranch, toNode } from './items.ts';
import { askedMessage, keys, ranges } from './keys.ts';
import { createReader, cursorOf, liveChannel, unknownMessage } from './read.ts';

type ContextStore = Pick<
  ConversationStore,
  'getCursor' | 'getMessage' | 'readContext' | 'readPath' | 'siblings'
>;

/** The path of a leaf out of what a range query brought, other branches left out. Starts right after the boundary. */
function pathAfter(boundary: string | undefined, messages: readonly StoredMessage[], leafId: string) {
  const path = getPathToLeaf(messages, leafId);
  const top = path[0];
  if (top === undefined || top.parentId !== (boundary ?? null)) {
    throw new StoreError(
      'path_broken',
      `A message between the boundary and ${leafId} is missing from its channel.`,
    );
  }
  return path;
}

/** Items read first for each message shown: room for parts and other branches, without reading a megabyte. */
const PAGE_FACTOR = 2;

export function createContextStore(context: StoreContext): ContextStore {
  const { db } = context;
  const reader = createReader(context);

  /** The cursor whose context is read: the user's own, or one on another leaf. */
  async function cursorAt(channelId: string, userId: string, leafId?: string): Promise<Cursor> {
    const [meta, cursorRead, leaf] = await db.batchGet([
      keys.meta(channelId),
      keys.cursor(channelId, userId),
      leafId === undefined ? undefined : askedMessage(channelId, leafId),
    ]);
    liveChannel(meta, channelId);
    const cursor = cursorOf(cursorRead, channelId, userId);
    if (leafId === undefined || leafId === cursor.leafId) return publicCursor(cursor);
    if (leaf === undefined) throw unknownMessage(leafId);
    return publicCursor(cursorOn(cursor, toNode(leaf), cursor.activeAt));
  }

  /** Newest part of a path, walking up page by page; one message more than shown, for the sibling count. */
  async function walkUp(channelId: string, leafId: string, limit: number): Promise<StoredMessage[]> {
    const path: StoredMessage[] = [];
    let wanted: string | null = leafId;
    let parts: Item[] = [];
    const range = ranges.messages(channelId, undefined, leafId);
    for await (const page of db.pages(range, { reverse: true, firstLimit: PAGE_FACTOR * (limit + 1) })) {
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
      const [meta, head] = await db.batchGet([keys.meta(channelId), askedMessage(channelId, messageId)]);
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
        boundaryId === undefined || pinned.length === 0 ? [] : reader.messages(channelId, pinned, true),
      ]);
      const path = pathAfter(after, found, cursor.leafId).map(publicMessage);
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
      const [meta, item] = await db.batchGet([keys.meta(channelId), askedMessage(channelId, messageId)]);
      liveChannel(meta, channelId);
      if (item === undefined) throw unknownMessage(messageId);
      const { parentId } = toNode(item);
      const [parent, branches] = await Promise.all([
        parentId === null ? undefined : db.get(keys.message(channelId, parentId)),
        db.queryAll(ranges.branchesAt(channelId, parentId)),
      ]);
      // The first child continues its parent's branch; every other one starts its own.
      const first = parent === undefined ? undefined : toNode(parent).firstChildId;
      const others = branches.map((branch) => toBranch(branch).startId);
      const ids = first === undefined ? others : [first, ...others];
      const found = (await reader.messages(channelId, ids)).filter((message) => message !== undefined);
      return getSiblings(found, { parentId }).map(publicMessage);
    },
  };
}
