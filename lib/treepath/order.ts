import { InvalidInputError } from '../errors.ts';

export type ImportNode = { readonly ref: string; readonly parentRef: string | null };

/** What must come before a node: its parent, and the sibling that the import lists before it. */
type Known<N> = { readonly byRef: ReadonlyMap<string, N>; readonly olderSibling: ReadonlyMap<N, N> };

/**
 * The nodes of an import in the order given, save that each comes after its parent and after its older siblings.
 * Throws `InvalidInputError`: `duplicate_ref`, `unknown_parent`, `cycle`, each naming the message.
 */
export function inTreeOrder<N extends ImportNode>(nodes: readonly N[]): N[] {
  const known = { byRef: indexed(nodes), olderSibling: olderSiblings(nodes) };
  const placed = new Set<N>();
  for (const node of nodes) place(node, known, placed);
  return [...placed];
}

/** Places a node, and first whatever must come before it. The parent is looked at first, so that a cycle shows. */
function place<N extends ImportNode>(node: N, known: Known<N>, placed: Set<N>): void {
  const waiting = [node];
  const open = new Set(waiting);
  for (let next = waiting.at(-1); next !== undefined; next = waiting.at(-1)) {
    const missing = missingBefore(next, known, placed);
    if (missing === undefined) {
      placed.add(next);
      waiting.pop();
      continue;
    }
    if (open.has(missing)) {
      throw new InvalidInputError(
        'cycle',
        `Message "${missing.ref}" is its own ancestor: the import is not a tree.`,
      );
    }
    open.add(missing);
    waiting.push(missing);
  }
}

function missingBefore<N extends ImportNode>(
  node: N,
  { byRef, olderSibling }: Known<N>,
  placed: ReadonlySet<N>,
): N | undefined {
  if (node.parentRef !== null) {
    const parent = byRef.get(node.parentRef);
    if (parent === undefined) {
      throw new InvalidInputError(
        'unknown_parent',
        `Message "${node.ref}" answers to "${node.parentRef}", which is not in the import.`,
      );
    }
    if (!placed.has(parent)) return parent;
  }
  const older = olderSibling.get(node);
  return older === undefined || placed.has(older) ? undefined : older;
}

function indexed<N extends ImportNode>(nodes: readonly N[]): Map<string, N> {
  const byRef = new Map<string, N>();
  for (const node of nodes) {
    if (byRef.has(node.ref))
      throw new InvalidInputError('duplicate_ref', `Two messages of the import are called "${node.ref}".`);
    byRef.set(node.ref, node);
  }
  return byRef;
}

function olderSiblings<N extends ImportNode>(nodes: readonly N[]): Map<N, N> {
  const newest = new Map<string | null, N>();
  const older = new Map<N, N>();
  for (const node of nodes) {
    const before = newest.get(node.parentRef);
    if (before !== undefined) older.set(node, before);
    newest.set(node.parentRef, node);
  }
  return older;
}
