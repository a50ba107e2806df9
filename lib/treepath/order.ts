import { InvalidInputError } from '../errors.ts';

export type ImportNode = { readonly ref: string; readonly parentRef: string | null };

/**
 * The nodes of an import, each parent before its children, siblings in their given order.
 * Throws `InvalidInputError`: `duplicate_ref`, `unknown_parent`, `cycle`, each naming the message.
 */
export function inTreeOrder<N extends ImportNode>(nodes: readonly N[]): N[] {
  const refs = new Set<string>();
  for (const { ref } of nodes) {
    if (refs.has(ref))
      throw new InvalidInputError('duplicate_ref', `Two messages of the import are called "${ref}".`);
    refs.add(ref);
  }
  const children = new Map<string | null, N[]>();
  for (const node of nodes) {
    if (node.parentRef !== null && !refs.has(node.parentRef)) {
      throw new InvalidInputError(
        'unknown_parent',
        `Message "${node.ref}" answers to "${node.parentRef}", which is not in the import.`,
      );
    }
    const siblings = children.get(node.parentRef);
    if (siblings) siblings.push(node);
    else children.set(node.parentRef, [node]);
  }
  const ordered: N[] = [];
  const waiting = [...(children.get(null) ?? [])].reverse();
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    ordered.push(node);
    waiting.push(...(children.get(node.ref) ?? []).toReversed());
  }
  if (ordered.length < nodes.length) {
    const reached = new Set(ordered.map(({ ref }) => ref));
    const lost = nodes.find(({ ref }) => !reached.has(ref));
    throw new InvalidInputError(
      'cycle',
      `Message "${lost?.ref}" is its own ancestor: the import is not a tree.`,
    );
  }
  return ordered;
}
