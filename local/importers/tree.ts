import { InvalidInputError } from '../../lib/errors.ts';
import type { ImportedMessage } from '../../lib/ports.ts';
import { inTreeOrder } from '../../lib/treepath/order.ts';
import { PlaceError, type RawNode } from './types.ts';

const hasContent = (node: RawNode): node is ImportedMessage => node.content !== undefined;

/**
 * Leaves out the nodes that hold nothing (roots of exports, hidden prompts) and hangs what stood below them on the
 * nearest node that stays, so that branches remain branches. Each parent comes before its children.
 */
export function pruneTree(nodes: readonly RawNode[], currentRef: string | null) {
  const byRef = new Map(nodes.map((node) => [node.ref, node]));
  const ordered = ordering(nodes);

  /** The node itself or the nearest ancestor that stays. */
  function kept(ref: string | null): string | null {
    for (let at = ref; at !== null; ) {
      const node = byRef.get(at);
      if (node === undefined) return null;
      if (hasContent(node)) return at;
      at = node.parentRef;
    }
    return null;
  }

  const messages = ordered.filter(hasContent).map((node) => ({ ...node, parentRef: kept(node.parentRef) }));
  return { messages, currentRef: kept(currentRef) };
}

function ordering(nodes: readonly RawNode[]): RawNode[] {
  try {
    return inTreeOrder(nodes);
  } catch (error) {
    if (error instanceof InvalidInputError) throw new PlaceError('', error.message);
    throw error;
  }
}
