import type { Message } from './message.ts';

type Node = Pick<Message, 'id' | 'parentId' | 'siblingIndex'>;

/** A message and the others below the same parent, in the order of their index. */
export function getSiblings<M extends Node>(messages: readonly M[], message: Node): M[] {
  return messages
    .filter(({ parentId }) => parentId === message.parentId)
    .sort((a, b) => a.siblingIndex - b.siblingIndex);
}

/** How many messages stand below the parent of this one, itself included. */
export const getSiblingCount = <M extends Node>(messages: readonly M[], message: Node): number =>
  getSiblings(messages, message).length;

/** The newest leaf at or below a message: where a cursor goes when a person picks a branch. */
export function findLeafFromMessage<M extends Node>(messages: readonly M[], messageId: string): string {
  const newestChild = new Map<string, string>();
  for (const { id, parentId } of messages) {
    if (parentId === null) continue;
    const known = newestChild.get(parentId);
    if (known === undefined || id > known) newestChild.set(parentId, id);
  }
  let leaf = messageId;
  for (let child = newestChild.get(leaf); child !== undefined; child = newestChild.get(leaf)) leaf = child;
  return leaf;
}
