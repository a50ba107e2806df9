import { InvalidInputError } from '../errors.ts';
import type { ConversationStore, ImportedMessage, NewChannel } from '../ports.ts';
import { updateCursor } from '../treepath/cursor.ts';
import { inTreeOrder } from '../treepath/order.ts';
import { getActiveLeaf } from '../treepath/path.ts';
import { EMPTY_SUMS, extendSums } from '../treepath/sums.ts';
import { cursorWrite } from './append.ts';
import { createModelKeyRegistry, creationWrites, newStoredChannel } from './channels.ts';
import { messageItems } from './content.ts';
import type { StoreContext } from './context.ts';
import { optimistic } from './db.ts';
import { emptyCursor, publicChannel, type StoredMessage } from './items.ts';

/** A tree of stored messages out of an import; nothing is written yet. */
function buildTree(context: StoreContext, channelId: string, imported: readonly ImportedMessage[]) {
  const byRef = new Map<string, StoredMessage>();
  const children = new Map<string | null, number>();
  const now = new Date(context.clock()).toISOString();
  for (const source of inTreeOrder(imported)) {
    const parent = source.parentRef === null ? undefined : byRef.get(source.parentRef);
    const siblingIndex = children.get(source.parentRef) ?? 0;
    children.set(source.parentRef, siblingIndex + 1);
    const id = context.newId(parent?.id);
    const weighed = {
      id,
      role: source.role,
      ...context.measure(source.content),
      ...(source.reportedTokens === undefined ? {} : { reportedTokens: source.reportedTokens }),
    };
    byRef.set(source.ref, {
      ...weighed,
      channelId,
      parentId: parent?.id ?? null,
      siblingIndex,
      depth: (parent?.depth ?? -1) + 1,
      content: source.content,
      metadata: { ...source.metadata, source_id: source.ref },
      sums: extendSums(parent?.sums ?? EMPTY_SUMS, weighed),
      createdAt: source.createdAt ?? now,
      childCount: 0,
    });
  }
  const messages = [...byRef].map(([ref, message]) => ({ ...message, childCount: children.get(ref) ?? 0 }));
  return { messages, idOf: (ref: string) => byRef.get(ref)?.id, rootCount: children.get(null) ?? 0 };
}

/**
 * A channel with a whole tree. The messages are written first, under a channel that does not exist yet; the one
 * transaction at the end makes it exist. A crash in between leaves items that nothing can reach, and no channel.
 */
export function createImport(context: StoreContext): ConversationStore['importChannel'] {
  const { db, clock } = context;
  const register = createModelKeyRegistry(context);

  function leafOf(tree: ReturnType<typeof buildTree>, currentRef: string | null): StoredMessage | undefined {
    if (currentRef === null) return getActiveLeaf(tree.messages);
    const id = tree.idOf(currentRef);
    if (id === undefined) {
      throw new InvalidInputError(
        'unknown_current',
        `The current message "${currentRef}" is not in the import.`,
      );
    }
    return tree.messages.find((message) => message.id === id);
  }

  return async (channel: NewChannel, imported, currentRef) => {
    const stored = newStoredChannel(context, channel);
    const tree = buildTree(context, stored.id, imported);
    const leaf = leafOf(tree, currentRef);
    const items = tree.messages.flatMap(messageItems);
    await register(stored);
    await db.batchPut(items);

    const existing = { ...stored, rootCount: tree.rootCount };
    const activeAt = Math.min(channel.activeAt ?? clock(), clock());
    const writes = creationWrites(existing);
    if (leaf !== undefined) {
      const cursor = updateCursor(emptyCursor(stored.id, channel.ownerId), leaf, activeAt);
      writes.push(cursorWrite(existing, { ...cursor, leafChildren: leaf.childCount }, undefined));
    }
    await optimistic(async () => ((await db.transact(writes)) ? true : undefined));
    return publicChannel(existing);
  };
}
