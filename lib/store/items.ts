import { StoreError } from '../errors.ts';
import type { Cursor } from '../ports.ts';
import type { Channel } from '../treepath/channel.ts';
import type { MessageContent } from '../treepath/content.ts';
import type { ContextSums, Message, MessageMetadata } from '../treepath/message.ts';
import { EMPTY_SUMS } from '../treepath/sums.ts';
import type { Item } from './db.ts';
import { keys } from './keys.ts';

/** Version of every item's shape. A reader upgrades older items here and nowhere else. */
export const ITEM_VERSION = 1;

/** Counters that the tree needs and no reader of a message does. */
export type StoredMessage = Message & {
  readonly childCount: number;
  /** A compaction put a summary right below this message: late replies go there. */
  readonly summaryChildId?: string;
  /** That summary was undone; a redo brings it back. */
  readonly undoneSummaryId?: string;
};

/** A channel with what only the store needs: the version of its settings and the number of its roots. */
export type StoredChannel = Channel & { readonly version: number; readonly rootCount: number };

/** `leafChildren` spares an append the read of its parent. */
export type StoredCursor = Cursor & { readonly leafChildren: number };

function checked(item: Item): Item {
  const { v } = item;
  if (typeof v !== 'number' || v > ITEM_VERSION) {
    throw new StoreError(
      'unknown_item_version',
      `An item has version ${String(v)}; this release reads up to ${ITEM_VERSION}. Deploy the newer release again.`,
    );
  }
  return item;
}

/** Fields that are absent stay absent, never `undefined`: exact optional properties. */
const pick = <T extends string>(item: Item, names: readonly T[]): Partial<Record<T, never>> =>
  Object.fromEntries(
    names.filter((name) => item[name] !== undefined).map((name) => [name, item[name]]),
  ) as never;

const STATE = ['claimedUntil', 'lastAutoAt', 'failures', 'retryAfter', 'noProgressAt'] as const;

export function channelItem(channel: StoredChannel): Item {
  const { compaction, version, rootCount, ...rest } = channel;
  return { ...keys.meta(channel.id), v: ITEM_VERSION, ...rest, ...compaction, version, rootCount };
}

export function toChannel(item: Item): StoredChannel {
  const read = checked(item);
  const lease =
    read.leaseOwner === undefined
      ? {}
      : { lease: { owner: String(read.leaseOwner), expiresAt: Number(read.leaseUntil) } };
  return {
    id: String(read.id),
    ownerId: String(read.ownerId),
    title: String(read.title),
    type: read.type === 'group' ? 'group' : 'direct',
    settings: (read.settings ?? {}) as Channel['settings'],
    archived: read.archived === true,
    createdAt: String(read.createdAt),
    updatedAt: String(read.updatedAt),
    ...pick(read, ['teamId', 'model', 'providerConfigId']),
    compaction: { fence: Number(read.fence ?? 0), ...lease, ...pick(read, STATE) },
    version: Number(read.version),
    rootCount: Number(read.rootCount),
  };
}

/** The message without its content, which is stored as JSON: every string comes back to the code unit. */
export function messageItem(message: StoredMessage): Item {
  const { content: _content, metadata, ...rest } = message;
  return {
    ...keys.message(message.channelId, message.id),
    v: ITEM_VERSION,
    ...rest,
    metadata: JSON.stringify(metadata),
  };
}

export function toMessage(item: Item, content: string): StoredMessage {
  const read = checked(item);
  return {
    id: String(read.id),
    channelId: String(read.channelId),
    parentId: read.parentId === null ? null : String(read.parentId),
    siblingIndex: Number(read.siblingIndex),
    depth: Number(read.depth),
    role: read.role as Message['role'],
    content: JSON.parse(content) as MessageContent,
    metadata: JSON.parse(String(read.metadata)) as MessageMetadata,
    tokens: Number(read.tokens),
    chars: Number(read.chars),
    sums: read.sums as ContextSums,
    createdAt: String(read.createdAt),
    ...pick(read, ['reportedTokens', 'deletedAt', 'summaryChildId', 'undoneSummaryId']),
    childCount: Number(read.childCount),
  };
}

/** What the tree knows of a message, its content aside. */
export type TreeNode = Omit<StoredMessage, 'content'>;

export const toNode = (item: Item): TreeNode => {
  const { content: _content, ...node } = toMessage(item, '""');
  return node;
};

/** What the rest of the product sees of a message. */
export function publicMessage(message: StoredMessage): Message {
  const { childCount: _children, summaryChildId: _summary, undoneSummaryId: _undone, ...rest } = message;
  return rest;
}

export function publicChannel(channel: StoredChannel): Channel {
  const { version: _version, rootCount: _roots, ...rest } = channel;
  return rest;
}

export function publicCursor(cursor: StoredCursor): Cursor {
  const { leafChildren: _children, ...rest } = cursor;
  return rest;
}

export function cursorItem(cursor: StoredCursor, pressure: Item): Item {
  return {
    ...keys.cursor(cursor.channelId, cursor.userId),
    v: ITEM_VERSION,
    ...cursor,
    tokens: cursor.sums.tokens,
    messages: cursor.sums.messages,
    ...pressure,
  };
}

export function toCursor(item: Item): StoredCursor {
  const read = checked(item);
  return {
    channelId: String(read.channelId),
    userId: String(read.userId),
    leafId: read.leafId === null ? null : String(read.leafId),
    leafDepth: Number(read.leafDepth),
    sums: read.sums as ContextSums,
    activeAt: Number(read.activeAt),
    leafChildren: Number(read.leafChildren),
  };
}

/** Where a user who never wrote or switched stands. */
export const emptyCursor = (channelId: string, userId: string): StoredCursor => ({
  channelId,
  userId,
  leafId: null,
  leafDepth: -1,
  sums: EMPTY_SUMS,
  activeAt: 0,
  leafChildren: 0,
});
