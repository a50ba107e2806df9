import { ConflictError } from '../errors.ts';
import type { ConversationStore, Cursor } from '../ports.ts';
import { newestLeafBelow } from '../treepath/branches.ts';
import type { StoreContext } from './context.ts';
import { optimistic, type Write } from './db.ts';
import {
  cursorOn,
  publicCursor,
  type StoredChannel,
  type StoredCursor,
  type TreeNode,
  toBranch,
  toNode,
} from './items.ts';
import { askedMessage, keys, ranges } from './keys.ts';
import { createReader, cursorOf, liveChannel, unknownMessage } from './read.ts';
import { cursorWrite, holdChannel } from './tree-writes.ts';

type CursorStore = Pick<ConversationStore, 'switchCursor' | 'undoSummary' | 'redoSummary'>;

export function createCursorStore(context: StoreContext): CursorStore {
  const { db, clock } = context;
  const { channelAndCursor } = createReader(context);

  /** A message without its content. Throws `NotFoundError` (`message_not_found`). */
  async function node(channelId: string, messageId: string): Promise<TreeNode> {
    const item = await db.get(askedMessage(channelId, messageId));
    if (item === undefined) throw unknownMessage(messageId);
    return toNode(item);
  }

  async function newestLeaf(channelId: string, below: TreeNode): Promise<TreeNode> {
    if (below.childCount === 0) return below;
    const branches = (await db.queryAll(ranges.branches(channelId))).map(toBranch);
    return node(channelId, newestLeafBelow(branches, below) ?? below.id);
  }

  /** The cursor on another message, with what else belongs to the same transaction. */
  async function move(
    channel: StoredChannel,
    cursor: StoredCursor,
    to: TreeNode,
    also: readonly Write[] = [],
  ): Promise<Cursor | undefined> {
    const next = cursorOn(cursor, to, clock());
    const moved = await db.transact([
      holdChannel(channel, cursor.leafId === null),
      cursorWrite(channel, next, cursor.leafId),
      ...also,
    ]);
    return moved ? publicCursor(next) : undefined;
  }

  return {
    switchCursor: (channelId, userId, messageId) =>
      optimistic(async () => {
        const [meta, cursorRead, picked] = await db.batchGet([
          keys.meta(channelId),
          keys.cursor(channelId, userId),
          askedMessage(channelId, messageId),
        ]);
        const channel = liveChannel(meta, channelId);
        if (picked === undefined) throw unknownMessage(messageId);
        const leaf = await newestLeaf(channelId, toNode(picked));
        return move(channel, cursorOf(cursorRead, channelId, userId), leaf);
      }),

    undoSummary: (channelId, userId) =>
      optimistic(async () => {
        const { channel, cursor } = await channelAndCursor(channelId, userId);
        const { boundaryId } = cursor.sums;
        if (boundaryId === undefined) {
          throw new ConflictError('nothing_to_undo', 'There is no summary on the active path to undo.');
        }
        const summary = await node(channelId, boundaryId);
        const parent = await node(channelId, String(summary.parentId));
        return move(channel, cursor, parent, [forgetSummary(parent, boundaryId, String(cursor.leafId))]);
      }),

    redoSummary: (channelId, userId) =>
      optimistic(async () => {
        const { channel, cursor } = await channelAndCursor(channelId, userId);
        const parent = cursor.leafId === null ? undefined : await node(channelId, cursor.leafId);
        if (parent?.undoneLeafId === undefined || parent.undoneSummaryId === undefined) {
          throw new ConflictError('nothing_to_redo', 'No summary was undone at the end of the active path.');
        }
        const target = await node(channelId, parent.undoneLeafId);
        return move(channel, cursor, target, [restoreSummary(parent, parent.undoneSummaryId)]);
      }),
  };
}

/** Late replies go to the parent itself again; the summary stays where it is, for a redo. */
function forgetSummary(parent: TreeNode, summaryId: string, leafId: string): Write {
  // Another user's compaction may have put its own summary there since.
  const follows = parent.summaryChildId === summaryId;
  return {
    Update: {
      Key: keys.message(parent.channelId, parent.id),
      UpdateExpression: `SET undoneSummaryId = :summary, undoneLeafId = :leaf${follows ? ' REMOVE summaryChildId' : ''}`,
      ConditionExpression: 'childCount = :count',
      ExpressionAttributeValues: { ':summary': summaryId, ':leaf': leafId, ':count': parent.childCount },
    },
  };
}

const restoreSummary = (parent: TreeNode, summaryId: string): Write => ({
  Update: {
    Key: keys.message(parent.channelId, parent.id),
    UpdateExpression: 'SET summaryChildId = :summary REMOVE undoneSummaryId, undoneLeafId',
    ConditionExpression: 'undoneSummaryId = :summary',
    ExpressionAttributeValues: { ':summary': summaryId },
  },
});
