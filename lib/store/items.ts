import { StoreError } from '../errors.ts';
import type { Cursor } from '../ports.ts';
import type { Branch } from '../treepath/branches.ts';
import type { Channel } from '../treepath/channel.ts';
import type { MessageContent } from '../treepath/content.ts';
import { updateCursor } from '../treepath/cursor.ts';
import type { ContextSums, Message, MessageMetadata } from '../treepath/message.ts';
import { EMPTY_SUMS } from '../treepath/sums.ts';
import type { Item } from './db.ts';
import { keys } from './keys.ts';

/** Version of every item's shape. A reader upgrades older items here and nowhere else. */
export const ITEM_VERSION = 1;

/** Counters that the tree needs and no reader of a message does. */
export type StoredMessage = Message & {
  readonly childCount: number;
  /** Name of the branch that it is on. */
  readonly branch: string;
  /** The child that continues this message's branch; the others start branches of their own. */
  readonly firstChildId?: string;
  /** A compaction put a summary right below this message: late replies go there. */
  readonly summaryChildId?: string;
  /** That summary was undone; a redo brings it back. */
  readonly undoneSummaryId?: string;
  /** Where the cursor stood before that undo. */
  readonly undoneLeafId?: string;
};

/** A channel with what only the store needs: the version of its settings and the number of its roots. */
export type StoredChannel = Channel & { readonly version: number; readonly rootCount: number };

/** `leafChildren` and `leafBranch` spare an append the read of its parent. */
export type StoredCursor = Cursor & { readonly leafChildren: number; readonly leafBranch: string };

/** How an item of a version becomes one of the next; an entry for each version that was ever written. */
export type Upgrades = Readonly<Record<number, (item: Item) => Item>>;
const UPGRADES: Upgrades = {};

/** The item in today's shape. Throws `StoreError` (`unknown_item_version`) for one that a newer release wrote. */
export function upgraded(item: Item, current = ITEM_VERSION, upgrades: Upgrades = UPGRADES): Item {
  let read = item;
  while (read.v !== current) {
    const upgrade = typeof read.v === 'number' && read.v < current ? upgrades[read.v] : undefined;
    if (upgrade === undefined) {
      throw new StoreError(
        'unknown_item_version',
        `An item has version ${String(read.v)}; this release reads up to ${current}. Deploy the newer release again.`,
      );
    }
    read = { ...upgrade(read), v: Number(read.v) + 1 };
  }
  return read;
}

/** Fields that are absent stay absent, never `undefined`: exact optional properties. */
const pick = <T extends string>(item: Item, names: readonly T[]): Partial<Record<T, never>> =>
  Object.fromEntries(
    names.filter((name) => item[name] !== undefined).map((name) => [name, item[name]]),
  ) as never;

const LINKS = ['firstChildId', 'summaryChildId', 'undoneSummaryId', 'undoneLeafId'] as const;
const STATE = ['claimedUntil', 'lastAutoAt', 'failures', 'retryAfter', 'noProgressAt'] as const;

export function channelItem(channel: StoredChannel): Item {
  const { compaction, version, rootCount, ...rest } = channel;
  return { ...keys.meta(channel.id), v: ITEM_VERSION, ...rest, ...compaction, version, rootCount };
}

export function toChannel(item: Item): StoredChannel {
  const read = upgraded(item);
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
  const read = upgraded(item);
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
    ...pick(read, ['reportedTokens', 'deletedAt', ...LINKS]),
    childCount: Number(read.childCount),
    branch: String(read.branch),
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
  const hidden = new Set<string>([...LINKS, 'childCount', 'branch']);
  return Object.fromEntries(Object.entries(message).filter(([name]) => !hidden.has(name))) as Message;
}

export function publicChannel(channel: StoredChannel): Channel {
  const { version: _version, rootCount: _roots, ...rest } = channel;
  return rest;
}

export function publicCursor(cursor: StoredCursor): Cursor {
  const { leafChildren: _children, leafBranch: _branch, ...rest } = cursor;
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
  const read = upgraded(item);
  return {
    channelId: String(read.channelId),
    userId: String(read.userId),
    leafId: read.leafId === null ? null : String(read.leafId),
    leafDepth: Number(read.leafDepth),
    sums: read.sums as ContextSums,
    activeAt: Number(read.activeAt),
    leafChildren: Number(read.leafChildren),
    leafBranch: String(read.leafBranch),
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
  leafBranch: '',
});

/** A cursor on a message, with what the next append there needs to know of it. */
export function cursorOn(
  cursor: Pick<Cursor, 'channelId' | 'userId'>,
  leaf: Pick<StoredMessage, 'id' | 'depth' | 'sums' | 'childCount' | 'branch'>,
  now: number,
): StoredCursor {
  return { ...updateCursor(cursor, leaf, now), leafChildren: leaf.childCount, leafBranch: leaf.branch };
}

export const branchItem = (channelId: string, branch: Branch): Item => ({
  ...keys.branch(channelId, branch.name),
  v: ITEM_VERSION,
  ...branch,
});

export function toBranch(item: Item): Branch {
  const read = upgraded(item);
  return {
    name: String(read.name),
    startId: String(read.startId),
    parentId: read.parentId === null ? null : String(read.parentId),
    parentDepth: Number(read.parentDepth),
    ...pick(read, ['parentBranch']),
    leafId: String(read.leafId),
  };
}
