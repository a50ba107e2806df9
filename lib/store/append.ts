import { createHash } from 'node:crypto';
import { ConflictError } from '../errors.ts';
import type { AppendRequest, AppendResult, ConversationStore } from '../ports.ts';
import { nextSiblingIndex, updateCursor } from '../treepath/cursor.ts';
import type { ContextSums } from '../treepath/message.ts';
import { EMPTY_SUMS, extendSums } from '../treepath/sums.ts';
import { messageItems } from './content.ts';
import type { StoreContext } from './context.ts';
import { type Db, type Item, optimistic, type Write } from './db.ts';
import {
  cursorItem,
  ITEM_VERSION,
  publicMessage,
  type StoredChannel,
  type StoredCursor,
  type StoredMessage,
  type TreeNode,
  toNode,
} from './items.ts';
import { keys } from './keys.ts';
import { pressureAttributes } from './pressure.ts';
import { createReader, cursorOf, liveChannel, unknownParent } from './read.ts';

const IDEMPOTENCY_TTL_S = 24 * 3_600;

/** What an append needs to know of its parent; `null` is the place above all roots. */
type Parent = {
  readonly id: string | null;
  readonly depth: number;
  readonly childCount: number;
  readonly sums: ContextSums;
};

/** Equal requests have equal hashes; the key itself is left out. */
const hashOf = ({ idempotencyKey: _key, ...request }: AppendRequest): string =>
  createHash('sha256').update(JSON.stringify(request)).digest('base64');

const rootOf = (channel: StoredChannel): Parent => ({
  id: null,
  depth: -1,
  childCount: channel.rootCount,
  sums: EMPTY_SUMS,
});

/** What one try read in its first round trip. */
type Read = {
  readonly channel: StoredChannel;
  readonly cursor: StoredCursor;
  readonly parentRead: Item | undefined;
  readonly tries: number;
};

/** A late reply goes below the summary that its parent received meanwhile, however many there are (design 3). */
async function followSummaries(db: Db, channelId: string, parent: TreeNode): Promise<TreeNode> {
  let below = parent;
  while (below.summaryChildId !== undefined) {
    const summary = await db.get(keys.message(channelId, below.summaryChildId));
    if (summary === undefined) throw unknownParent(below.summaryChildId);
    below = toNode(summary);
  }
  return below;
}

export function createAppend(context: StoreContext): ConversationStore['append'] {
  const { db, clock, newId, measure } = context;
  const reader = createReader(context);

  /** The parent by name, or the cursor's leaf, whose cached child count serves only the first try. */
  async function parentOf(request: AppendRequest, read: Read): Promise<Parent> {
    const { channel, cursor } = read;
    const { parentId } = request;
    if (parentId === null || (parentId === undefined && cursor.leafId === null)) return rootOf(channel);
    if (parentId !== undefined) {
      if (read.parentRead === undefined) throw unknownParent(parentId);
      const named = toNode(read.parentRead);
      return request.branch === true ? named : followSummaries(db, channel.id, named);
    }
    const leafId = String(cursor.leafId);
    if (read.tries === 0) {
      return { id: leafId, depth: cursor.leafDepth, childCount: cursor.leafChildren, sums: cursor.sums };
    }
    const leaf = await db.get(keys.message(channel.id, leafId));
    if (leaf === undefined) throw unknownParent(leafId);
    return toNode(leaf);
  }

  function messageOf(request: AppendRequest, parent: Parent): StoredMessage {
    const now = clock();
    const id = newId(parent.id);
    const weighed = {
      id,
      role: request.role,
      ...measure(request.content),
      ...(request.reportedTokens === undefined ? {} : { reportedTokens: request.reportedTokens }),
    };
    return {
      ...weighed,
      channelId: request.channelId,
      parentId: parent.id,
      siblingIndex: nextSiblingIndex(parent.childCount),
      depth: parent.depth + 1,
      content: request.content,
      metadata: request.metadata ?? {},
      sums: extendSums(parent.sums, weighed),
      createdAt: new Date(now).toISOString(),
      childCount: 0,
    };
  }

  async function replay(request: AppendRequest, item: Item): Promise<AppendResult> {
    if (item.hash !== hashOf(request)) {
      throw new ConflictError(
        'idempotency_key_reused',
        'This Idempotency-Key was used for another message. Send a new key with a new message.',
      );
    }
    const message = await reader.message(request.channelId, String(item.messageId));
    return { message: publicMessage(message), replayed: true };
  }

  function idempotencyWrite(request: AppendRequest, messageId: string): Write[] {
    const { channelId, idempotencyKey } = request;
    if (idempotencyKey === undefined) return [];
    const expiresAt = Math.floor(clock() / 1_000) + IDEMPOTENCY_TTL_S;
    const item = {
      ...keys.idempotency(channelId, idempotencyKey),
      v: ITEM_VERSION,
      hash: hashOf(request),
      messageId,
      expiresAt,
    };
    return [{ Put: { Item: item, ConditionExpression: 'attribute_not_exists(PK)' } }];
  }

  return (request) =>
    optimistic(async (tries) => {
      const { channelId, userId, idempotencyKey } = request;
      const explicit = request.parentId ?? undefined;
      const [meta, cursorRead, seen, parentRead] = await db.batchGet([
        keys.meta(channelId),
        keys.cursor(channelId, userId),
        idempotencyKey === undefined ? undefined : keys.idempotency(channelId, idempotencyKey),
        explicit === undefined ? undefined : keys.message(channelId, explicit),
      ]);
      const channel = liveChannel(meta, channelId);
      if (seen !== undefined) return replay(request, seen);

      const cursor = cursorOf(cursorRead, channelId, userId);
      const parent = await parentOf(request, { channel, cursor, parentRead, tries });
      const message = messageOf(request, parent);
      const next: StoredCursor = { ...updateCursor(cursor, message, clock()), leafChildren: 0 };
      const written = await db.transact([
        ...parentWrites(channel, parent),
        ...messageItems(message).map((Item) => ({
          Put: { Item, ConditionExpression: 'attribute_not_exists(PK)' },
        })),
        cursorWrite(channel, next, cursorRead === undefined ? undefined : cursor.leafId),
        ...idempotencyWrite(request, message.id),
      ]);
      if (!written) return undefined;
      const redirected = explicit !== undefined && parent.id !== explicit;
      return {
        message: publicMessage(message),
        replayed: false,
        ...(redirected ? { redirectedFrom: explicit } : {}),
      };
    });
}

/** Counts the child on its parent and holds the channel still: not deleted, settings as they were read. */
function parentWrites(channel: StoredChannel, parent: Parent): Write[] {
  const unchanged = 'version = :version AND attribute_not_exists(deletedAt)';
  if (parent.id === null) {
    return [
      {
        Update: {
          Key: keys.meta(channel.id),
          UpdateExpression: 'SET rootCount = :next',
          ConditionExpression: `${unchanged} AND rootCount = :count`,
          ExpressionAttributeValues: {
            ':version': channel.version,
            ':count': parent.childCount,
            ':next': parent.childCount + 1,
          },
        },
      },
    ];
  }
  return [
    {
      ConditionCheck: {
        Key: keys.meta(channel.id),
        ConditionExpression: unchanged,
        ExpressionAttributeValues: { ':version': channel.version },
      },
    },
    {
      Update: {
        Key: keys.message(channel.id, parent.id),
        UpdateExpression: 'SET childCount = :next',
        ConditionExpression: 'childCount = :count',
        ExpressionAttributeValues: { ':count': parent.childCount, ':next': parent.childCount + 1 },
      },
    },
  ];
}

/** Moves a cursor with its place in the index; refused when it is no longer where it was read. */
export function cursorWrite(
  channel: StoredChannel,
  next: StoredCursor,
  readAt: string | null | undefined,
): Write {
  const Item = cursorItem(next, pressureAttributes(channel, next.sums));
  if (readAt === undefined) return { Put: { Item, ConditionExpression: 'attribute_not_exists(PK)' } };
  return {
    Put: { Item, ConditionExpression: 'leafId = :leaf', ExpressionAttributeValues: { ':leaf': readAt } },
  };
}
