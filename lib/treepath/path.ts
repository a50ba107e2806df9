import type { Message } from './message.ts';

type Node = Pick<Message, 'id' | 'parentId'>;

/**
 * The messages from the topmost known ancestor down to `leafId`, oldest first, out of any set of messages of one
 * channel. Messages of other branches are left out. A message that is its own ancestor ends the walk.
 */
export function getPathToLeaf<M extends Node>(messages: readonly M[], leafId: string): M[] {
  const byId = new Map(messages.map((message) => [message.id, message]));
  const path: M[] = [];
  let id: string | null = leafId;
  while (id !== null) {
    const message: M | undefined = byId.get(id);
    if (message === undefined) break;
    byId.delete(id);
    path.push(message);
    id = message.parentId;
  }
  return path.reverse();
}

/** The newest message that nothing answers; ids sort by time. */
export function getActiveLeaf<M extends Node>(messages: readonly M[]): M | undefined {
  const parents = new Set(messages.map(({ parentId }) => parentId));
  return messages
    .filter(({ id }) => !parents.has(id))
    .reduce<M | undefined>(
      (newest, message) => (newest && newest.id > message.id ? newest : message),
      undefined,
    );
}

/** The path of a cursor; without one, the path to the newest leaf. */
export function getActivePath<M extends Node>(messages: readonly M[], cursorLeafId: string | null): M[] {
  const leafId = cursorLeafId ?? getActiveLeaf(messages)?.id;
  return leafId === undefined ? [] : getPathToLeaf(messages, leafId);
}
