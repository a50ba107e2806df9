import { createHash } from 'node:crypto';
import { ConflictError, InvalidInputError } from '../errors.ts';
import type { AppendRequest, AppendResult, ConversationStore, NewMessage } from '../ports.ts';
import { extendSums } from '../treepath/sums.ts';
import type { StoreContext } from './context.ts';
import { type Db, type Item, optimistic, type Write } from './db.ts';
import {
  cursorOn,
  ITEM_VERSION,
  publicMessage,
  type StoredChannel,
  type StoredCursor,
  type StoredMessage,
  type TreeNode,
  toNode,
} from './items.ts';
import { askedMessage, keys } from './keys.ts';
import { createReader, cursorOf, liveChannel, unknownParent } from './read.ts';
import { channelWrite, cursorWrite, insertWrites, type Parent, placeBelow, rootOf } from './tree-writes.ts';

const IDEMPOTENCY_TTL_S = 24 * 3_600;

const seconds = (ms: number): number => Math.floor(ms / 1_000);

/** Equal requests have equal hashes; the key itself is left out. */
const hashOf = ({ idempotencyKey: _key, ...request }: AppendRequest): string =>
  createHash('sha256').update(JSON.stringify(request)).digest('base64');

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
      const { leafDepth: depth, leafChildren: childCount, leafBranch: branch, sums } = cursor;
      return { id: leafId, depth, childCount, branch, sums };
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
      ...placeBelow(parent, id),
      channelId: request.channelId,
      content: request.content,
      metadata: request.metadata ?? {},
      sums: extendSums(parent.sums, weighed),
      createdAt: new Date(now).toISOString(),
    };
  }

  /** The first answer to the same key, or a refusal when the body is another. */
  async function replay(request: AppendRequest, item: Item): Promise<AppendResult> {
    if (item.hash !== hashOf(request)) {
      throw new ConflictError(
        'idempotency_key_reused',
        'This Idempotency-Key was used for another message. Send a new key with a new message.',
      );
    }
    const message = await reader.message(request.channelId, String(item.messageId));
    return answer(message, request, true);
  }

  function idempotencyWrite(request: AppendRequest, messageId: string): Write[] {
    const { channelId, userId, idempotencyKey } = request;
    if (idempotencyKey === undefined) return [];
    const now = seconds(clock());
    return [
      {
        Put: {
          Item: {
            ...keys.idempotency(channelId, userId, idempotencyKey),
            v: ITEM_VERSION,
            hash: hashOf(request),
            messageId,
            expiresAt: now + IDEMPOTENCY_TTL_S,
          },
          // The engine removes expired items when it gets to it, which may be days later.
          ConditionExpression: 'attribute_not_exists(PK) OR expiresAt <= :now',
          ExpressionAttributeValues: { ':now': now },
        },
      },
    ];
  }

  return async (request) => {
    refuseForgedSummary(request.metadata);
    return optimistic(async (tries) => {
      const { channelId, userId, idempotencyKey, parentId } = request;
      const [meta, cursorRead, seen, parentRead] = await db.batchGet([
        keys.meta(channelId),
        keys.cursor(channelId, userId),
        idempotencyKey === undefined ? undefined : keys.idempotency(channelId, userId, idempotencyKey),
        typeof parentId === 'string' ? askedMessage(channelId, parentId) : undefined,
      ]);
      const channel = liveChannel(meta, channelId);
      if (seen !== undefined && Number(seen.expiresAt) > seconds(clock())) return replay(request, seen);

      const cursor = cursorOf(cursorRead, channelId, userId);
      const parent = await parentOf(request, { channel, cursor, parentRead, tries });
      const message = messageOf(request, parent);
      const written = await db.transact([
        channelWrite(channel, parent, cursor.leafId === null),
        ...insertWrites(parent, message),
        cursorWrite(channel, cursorOn(cursor, message, clock()), cursor.leafId),
        ...idempotencyWrite(request, message.id),
      ]);
      return written ? answer(message, request, false) : undefined;
    });
  };
}

function answer(message: StoredMessage, { parentId }: AppendRequest, replayed: boolean): AppendResult {
  const redirected = typeof parentId === 'string' && message.parentId !== parentId;
  return {
    message: publicMessage(message),
    replayed,
    ...(redirected ? { redirectedFrom: parentId } : {}),
  };
}

/**
 * Only a compaction makes summaries. Throws `InvalidInputError` (`reserved_metadata`): a message that called itself one
 * would hide what stands above it from the model.
 */
export function refuseForgedSummary(metadata: NewMessage['metadata']): void {
  if (metadata?.type !== 'summary') return;
  throw new InvalidInputError(
    'reserved_metadata',
    'The metadata type "summary" is kept for compactions. Send the message with another type, or none.',
  );
}
