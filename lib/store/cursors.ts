import { ConflictError } from '../errors.ts';
import type { ConversationStore } from '../ports.ts';
import { updateCursor } from '../treepath/cursor.ts';
import { findLeafFromMessage } from '../treepath/siblings.ts';
import { cursorWrite } from './append.ts';
import { assemble } from './content.ts';
import type { StoreContext } from './context.ts';
import { optimistic, type Write } from './db.ts';
import { publicCursor, type StoredChannel, type StoredCursor, type StoredMessage } from './items.ts';
import { keys, ranges } from './keys.ts';
import { createReader } from './read.ts';

type CursorStore = Pick<ConversationStore, 'switchCursor' | 'undoSummary' | 'redoSummary'>;

export function createCursorStore(context: StoreContext): CursorStore {
  const { db, clock } = context;
  const reader = createReader(context);

  /** A message and all that came after it, whatever the branch: enough to find the leaves below it. */
  async function from(channelId: string, message: StoredMessage): Promise<StoredMessage[]> {
    return [message, ...assemble(await db.queryAll(ranges.messages(channelId, message.id)))];
  }

  async function newestLeafBelow(channelId: string, message: StoredMessage): Promise<StoredMessage> {
    const known = await from(channelId, message);
    const leafId = findLeafFromMessage(known, message.id);
    return known.find(({ id }) => id === leafId) ?? message;
  }

  /** The cursor on another message, with further writes of the same transaction. */
  async function move(channel: StoredChannel, cursor: StoredCursor, to: StoredMessage, also: Write[] = []) {
    const next: StoredCursor = { ...updateCursor(cursor, to, clock()), leafChildren: to.childCount };
    const readAt = cursor.activeAt === 0 ? undefined : cursor.leafId;
    const check: Write = {
      ConditionCheck: {
        Key: keys.meta(channel.id),
        ConditionExpression: 'version = :version AND attribute_not_exists(deletedAt)',
        ExpressionAttributeValues: { ':version': channel.version },
      },
    };
    const moved = await db.transact([check, cursorWrite(channel, next, readAt), ...also]);
    return moved ? publicCursor(next) : undefined;
  }

  return {
    switchCursor: (channelId, userId, messageId) =>
      optimistic(async () => {
        const { channel, cursor } = await reader.channelAndCursor(channelId, userId);
        const leaf = await newestLeafBelow(channelId, await reader.message(channelId, messageId));
        return move(channel, cursor, leaf);
      }),

    undoSummary: (channelId, userId) =>
      optimistic(async () => {
        const { channel, cursor } = await reader.channelAndCursor(channelId, userId);
        const { boundaryId } = cursor.sums;
        if (boundaryId === undefined) {
          throw new ConflictError('nothing_to_undo', 'There is no summary on the active path to undo.');
        }
        const summary = await reader.message(channelId, boundaryId);
        const parent = await reader.message(channelId, String(summary.parentId));
        return move(channel, cursor, parent, [forgetSummary(channelId, parent, boundaryId)]);
      }),

    redoSummary: (channelId, userId) =>
      optimistic(async () => {
        const { channel, cursor } = await reader.channelAndCursor(channelId, userId);
        const leaf = cursor.leafId === null ? undefined : await reader.message(channelId, cursor.leafId);
        if (leaf?.undoneSummaryId === undefined) {
          throw new ConflictError('nothing_to_redo', 'No summary was undone at the end of the active path.');
        }
        const summary = await reader.message(channelId, leaf.undoneSummaryId);
        const target = await newestLeafBelow(channelId, summary);
        return move(channel, cursor, target, [restoreSummary(channelId, leaf.id, summary.id)]);
      }),
  };
}

/** Late replies go to the parent itself again; the summary stays where it is, for a redo. */
const forgetSummary = (channelId: string, parent: StoredMessage, summaryId: string): Write => ({
  Update: {
    Key: keys.message(channelId, parent.id),
    UpdateExpression: 'SET undoneSummaryId = :summary REMOVE summaryChildId',
    ConditionExpression: 'childCount = :count',
    ExpressionAttributeValues: { ':summary': summaryId, ':count': parent.childCount },
  },
});

const restoreSummary = (channelId: string, parentId: string, summaryId: string): Write => ({
  Update: {
    Key: keys.message(channelId, parentId),
    UpdateExpression: 'SET summaryChildId = :summary REMOVE undoneSummaryId',
    ConditionExpression: 'undoneSummaryId = :summary',
    ExpressionAttributeValues: { ':summary': summaryId },
  },
});
