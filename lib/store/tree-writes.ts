import type { Branch } from '../treepath/branches.ts';
import { nextSiblingIndex } from '../treepath/cursor.ts';
import type { ContextSums } from '../treepath/message.ts';
import { EMPTY_SUMS } from '../treepath/sums.ts';
import { messageItems } from './content.ts';
import type { Write } from './db.ts';
import {
  branchItem,
  cursorItem,
  type StoredChannel,
  type StoredCursor,
  type StoredMessage,
} from './items.ts';
import { branchName, keys } from './keys.ts';
import { pressureAttributes } from './pressure.ts';

/** What must be known of a parent to put a child below it; `null` is the place above all roots. */
export type Parent = {
  readonly id: string | null;
  readonly depth: number;
  readonly childCount: number;
  readonly branch?: string;
  readonly sums: ContextSums;
};

export const rootOf = (channel: StoredChannel): Parent => ({
  id: null,
  depth: -1,
  childCount: channel.rootCount,
  sums: EMPTY_SUMS,
});

/** Where the next child of a parent stands. A first child continues the parent's branch; any other starts its own. */
export function placeBelow(parent: Parent, id: string) {
  const siblingIndex = nextSiblingIndex(parent.childCount);
  const continued = siblingIndex === 0 ? parent.branch : undefined;
  return {
    parentId: parent.id,
    depth: parent.depth + 1,
    siblingIndex,
    branch: continued ?? branchName(parent.id, id),
    childCount: 0,
  };
}

/** The same channel as it was read: not deleted, with these settings, and no cursor that was not there. */
const UNCHANGED = 'version = :version AND attribute_not_exists(deletedAt)';

/**
 * Holds the channel still while a cursor is written. A cursor that is new counts as a change of the channel, so that
 * whoever changes the settings never misses it.
 */
export function holdChannel(channel: StoredChannel, cursorIsNew: boolean): Write {
  const Key = keys.meta(channel.id);
  const values = { ':version': channel.version };
  if (!cursorIsNew) {
    return { ConditionCheck: { Key, ConditionExpression: UNCHANGED, ExpressionAttributeValues: values } };
  }
  return {
    Update: {
      Key,
      UpdateExpression: 'SET version = :next',
      ConditionExpression: UNCHANGED,
      ExpressionAttributeValues: { ...values, ':next': channel.version + 1 },
    },
  };
}

/** `holdChannel` for a new root, which is counted on the channel. */
function countRoot(channel: StoredChannel, cursorIsNew: boolean): Write {
  return {
    Update: {
      Key: keys.meta(channel.id),
      UpdateExpression: 'SET rootCount = :roots, version = :next',
      ConditionExpression: `${UNCHANGED} AND rootCount = :count`,
      ExpressionAttributeValues: {
        ':version': channel.version,
        ':next': channel.version + (cursorIsNew ? 1 : 0),
        ':count': channel.rootCount,
        ':roots': channel.rootCount + 1,
      },
    },
  };
}

/** Counts a child on its parent, at the index that it was given; `summary` makes late replies follow it. */
function countChild(parent: Parent & { id: string }, child: StoredMessage, summary: boolean): Write {
  const sets = ['childCount = :next'];
  if (child.siblingIndex === 0) sets.push('firstChildId = :child');
  if (summary) sets.push('summaryChildId = :child');
  return {
    Update: {
      Key: keys.message(child.channelId, parent.id),
      UpdateExpression: `SET ${sets.join(', ')}`,
      ConditionExpression: 'childCount = :count',
      ExpressionAttributeValues: {
        ':count': parent.childCount,
        ':next': parent.childCount + 1,
        ...(sets.length > 1 ? { ':child': child.id } : {}),
      },
    },
  };
}

/** The branch that a message starts, itself its leaf so far. */
export function startedBranch(parent: Parent, child: Pick<StoredMessage, 'id' | 'branch'>): Branch {
  return {
    name: child.branch,
    startId: child.id,
    parentId: parent.id,
    parentDepth: parent.depth,
    ...(parent.branch === undefined ? {} : { parentBranch: parent.branch }),
    leafId: child.id,
  };
}

/** The branch that a message starts, or the new leaf of the one that it continues. */
function branchWrite(parent: Parent, child: StoredMessage): Write {
  if (child.branch === parent.branch) {
    return {
      Update: {
        Key: keys.branch(child.channelId, child.branch),
        UpdateExpression: 'SET leafId = :leaf',
        ConditionExpression: 'attribute_exists(PK)',
        ExpressionAttributeValues: { ':leaf': child.id },
      },
    };
  }
  return { Put: { Item: branchItem(child.channelId, startedBranch(parent, child)) } };
}

/** Puts a message below its parent: content, count, branch. Fails when the parent got another child meanwhile. */
export function insertWrites(parent: Parent, child: StoredMessage, summary = false): Write[] {
  const { id } = parent;
  return [
    ...messageItems(child).map((Item) => ({
      Put: { Item, ConditionExpression: 'attribute_not_exists(PK)' },
    })),
    ...(id === null ? [] : [countChild({ ...parent, id }, child, summary)]),
    branchWrite(parent, child),
  ];
}

/** Holds or counts on the channel, whichever a child of this parent needs: one item can be written once. */
export const channelWrite = (channel: StoredChannel, parent: Parent, cursorIsNew: boolean): Write =>
  parent.id === null ? countRoot(channel, cursorIsNew) : holdChannel(channel, cursorIsNew);

/** Moves a cursor with its place in the index; refused when it is no longer on the leaf where it was read. */
export function cursorWrite(channel: StoredChannel, next: StoredCursor, readAt: string | null): Write {
  const Item = cursorItem(next, pressureAttributes(channel, next.sums));
  if (readAt === null) return { Put: { Item, ConditionExpression: 'attribute_not_exists(PK)' } };
  return {
    Put: { Item, ConditionExpression: 'leafId = :leaf', ExpressionAttributeValues: { ':leaf': readAt } },
  };
}
