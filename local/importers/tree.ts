import { InvalidInputError } from '../../lib/errors.ts';
import type { ImportedMessage } from '../../lib/ports.ts';
import { inTreeOrder } from '../../lib/treepath/order.ts';
import { withoutInlineData } from './content.ts';
import { PlaceError, type RawNode } from './types.ts';

/** Longest id of a message that the API takes, in UTF-16 units. */
const MAX_REF = 128;

const hasContent = (node: RawNode): node is ImportedMessage => node.content !== undefined;

/**
 * Leaves out the nodes that hold nothing (roots of exports, hidden prompts) and hangs what stood below them on the
 * nearest node that stays, so that branches remain branches. Each parent comes before its children.
 */
export function pruneTree(nodes: readonly RawNode[], currentRef: string | null) {
  checkNames(nodes);
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

  const messages = ordered.filter(hasContent).map((node) => ({
    ...node,
    parentRef: kept(node.parentRef),
    content: withoutInlineData(node.content),
  }));
  return { messages, currentRef: kept(currentRef) };
}

function checkNames(nodes: readonly RawNode[]): void {
  for (const { ref } of nodes) {
    if (ref === '' || ref.length > MAX_REF)
      throw new PlaceError('', `the id "${ref.slice(0, 40)}" is not 1 to ${MAX_REF} characters long`);
  }
}

function ordering(nodes: readonly RawNode[]): RawNode[] {
  try {
    return inTreeOrder(nodes);
  } catch (error) {
    if (error instanceof InvalidInputError) throw new PlaceError('', error.message);
    throw error;
  }
}
