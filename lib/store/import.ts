import { InvalidInputError } from '../errors.ts';
import type { ConversationStore, ImportedMessage, NewChannel } from '../ports.ts';
import type { Branch } from '../treepath/branches.ts';
import { inTreeOrder } from '../treepath/order.ts';
import { getActiveLeaf } from '../treepath/path.ts';
import { EMPTY_SUMS, extendSums } from '../treepath/sums.ts';
import { refuseForgedSummary } from './append.ts';
import { createModelKeyRegistry, creationWrites, newStoredChannel } from './channels.ts';
import { messageItems } from './content.ts';
import type { StoreContext } from './context.ts';
import { optimistic } from './db.ts';
import { branchItem, cursorOn, emptyCursor, publicChannel, type StoredMessage } from './items.ts';
import { cursorWrite, type Parent, placeBelow, startedBranch } from './tree-writes.ts';

type Growing = { -readonly [K in keyof StoredMessage]: StoredMessage[K] };
const ROOT = { id: null, depth: -1, sums: EMPTY_SUMS };

/** Ids rise in the order of the import, so that its last leaf is its newest one, whatever the depth. */
function messageOf(context: StoreContext, source: ImportedMessage, above: Parent, previousId?: string) {
  refuseForgedSummary(source.metadata);
  const id = context.newId(previousId);
  const weighed = {
    id,
    role: source.role,
    ...context.measure(source.content),
    ...(source.reportedTokens === undefined ? {} : { reportedTokens: source.reportedTokens }),
  };
  return {
    ...weighed,
    ...placeBelow(above, id),
    content: source.content,
    metadata: { ...source.metadata, source_id: source.ref },
    sums: extendSums(above.sums, weighed),
    createdAt: source.createdAt ?? new Date(context.clock()).toISOString(),
  };
}

/** A tree of stored messages and its branches out of an import; nothing is written yet. */
function buildTree(context: StoreContext, channelId: string, imported: readonly ImportedMessage[]) {
  const byRef = new Map<string, Growing>();
  const branches = new Map<string, { -readonly [K in keyof Branch]: Branch[K] }>();
  let rootCount = 0;
  let previousId: string | undefined;
  for (const node of inTreeOrder(imported)) {
    const parent = node.parentRef === null ? undefined : byRef.get(node.parentRef);
    const above: Parent = parent ?? { ...ROOT, childCount: rootCount };
    const message: Growing = { ...messageOf(context, node, above, previousId), channelId };
    byRef.set(node.ref, message);
    previousId = message.id;
    if (parent === undefined) rootCount += 1;
    else {
      parent.childCount += 1;
      parent.firstChildId ??= message.id;
    }
    const continued = branches.get(message.branch);
    if (continued) continued.leafId = message.id;
    else branches.set(message.branch, startedBranch(above, message));
  }
  return { messages: [...byRef.values()], branches: [...branches.values()], byRef, rootCount };
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
    const current = tree.byRef.get(currentRef);
    if (current === undefined) {
      throw new InvalidInputError(
        'unknown_current',
        `The current message "${currentRef}" is not in the import.`,
      );
    }
    return current;
  }

  return async (channel: NewChannel, imported, currentRef) => {
    const stored = newStoredChannel(context, channel);
    const tree = buildTree(context, stored.id, imported);
    const leaf = leafOf(tree, currentRef);
    const items = [
      ...tree.messages.flatMap(messageItems),
      ...tree.branches.map((branch) => branchItem(stored.id, branch)),
    ];
    await register(stored);
    await db.batchPut(items);

    const existing = { ...stored, rootCount: tree.rootCount };
    const activeAt = Math.min(channel.activeAt ?? clock(), clock());
    const writes = creationWrites(existing);
    if (leaf !== undefined) {
      const cursor = cursorOn(emptyCursor(stored.id, channel.ownerId), leaf, activeAt);
      writes.push(cursorWrite(existing, cursor, null));
    }
    await optimistic(async () => ((await db.transact(writes)) ? true : undefined));
    return publicChannel(existing);
  };
}
