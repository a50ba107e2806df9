import type { Message } from './message.ts';

type Node = Pick<Message, 'id' | 'parentId' | 'siblingIndex'>;

/** A message and the others below the same parent, in the order of their index. */
export function getSiblings<M extends Node>(messages: readonly M[], message: Pick<Node, 'parentId'>): M[] {
  return messages
    .filter(({ parentId }) => parentId === message.parentId)
    .sort((a, b) => a.siblingIndex - b.siblingIndex);
}

/** How many messages stand below the parent of this one, itself included. */
export const getSiblingCount = (messages: readonly Node[], message: Pick<Node, 'parentId'>): number =>
  getSiblings(messages, message).length;

/** The newest leaf at or below a message: where a cursor goes when a person picks a branch. Ids sort by time. */
export function findLeafFromMessage<M extends Node>(messages: readonly M[], messageId: string): string {
  const children = new Map<string, string[]>();
  for (const { id, parentId } of messages) {
    if (parentId === null) continue;
    const others = children.get(parentId);
    if (others) others.push(id);
    else children.set(parentId, [id]);
  }
  let newest: string | undefined;
  const waiting = [messageId];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    const below = children.get(id);
    if (below) waiting.push(...below);
    else if (newest === undefined || id > newest) newest = id;
  }
  return newest ?? messageId;
}
