import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type Branch, newestLeafBelow } from '../../lib/treepath/branches.ts';
import { inTreeOrder } from '../../lib/treepath/order.ts';
import { findLeafFromMessage } from '../../lib/treepath/siblings.ts';

type Node = { readonly ref: string; readonly parentRef: string | null };

/** A random tree, its nodes in a random order. */
const trees: fc.Arbitrary<Node[]> = fc
  .array(fc.nat({ max: 1_000 }), { minLength: 1, maxLength: 30 })
  .map((picks) =>
    picks.map((pick, index) => ({
      ref: `n${index}`,
      parentRef: index === 0 || pick % 7 === 0 ? null : `n${pick % index}`,
    })),
  )
  .chain((nodes) => fc.shuffledSubarray(nodes, { minLength: nodes.length, maxLength: nodes.length }));

describe('the order of an import', () => {
  it('property: parents first, siblings as given, nothing lost', () => {
    fc.assert(
      fc.property(trees, (nodes) => {
        const ordered = inTreeOrder(nodes);
        assert.deepEqual(new Set(ordered), new Set(nodes));
        const place = new Map(ordered.map(({ ref }, index) => [ref, index]));
        for (const { ref, parentRef } of nodes) {
          if (parentRef !== null) assert.ok((place.get(parentRef) ?? 0) < (place.get(ref) ?? 0));
        }
        for (const parent of new Set(nodes.map(({ parentRef }) => parentRef))) {
          const below = (list: readonly Node[]) => list.filter(({ parentRef }) => parentRef === parent);
          assert.deepEqual(below(ordered), below(nodes));
        }
      }),
    );
  });

  it('what is in order already stays as it is', () => {
    const tree: Node[] = Array.from({ length: 50_000 }, (_, n) => ({
      ref: `${n}`,
      parentRef: n === 0 ? null : `${n - 1}`,
    }));
    assert.deepEqual(inTreeOrder(tree), tree);
    assert.equal(inTreeOrder(tree.toReversed()).length, tree.length);
  });

  it('property: a cycle is named by one of its own', () => {
    fc.assert(
      fc.property(trees, fc.nat(), (nodes, pick) => {
        const [a = '', b = ''] = ['x', 'y'];
        const at = pick % nodes.length;
        const ring = [
          { ref: a, parentRef: b },
          { ref: b, parentRef: a },
          { ref: 'below', parentRef: b },
        ];
        const broken = [...nodes.slice(0, at), ...ring, ...nodes.slice(at)];
        assert.throws(() => inTreeOrder(broken), { code: 'cycle', message: /"[xy]"/ });
      }),
    );
  });
});

describe('branches by name', () => {
  /** The branches of a tree, built by the rule alone: a first child continues, any other starts. */
  function branchesOf(nodes: readonly Node[]) {
    const place = new Map<string, { branch: string; depth: number }>();
    const branches = new Map<string, Branch>();
    const withChild = new Set<string>();
    for (const { ref, parentRef } of inTreeOrder(nodes)) {
      const above = parentRef === null ? undefined : place.get(parentRef);
      const continues = above !== undefined && parentRef !== null && !withChild.has(parentRef);
      if (parentRef !== null) withChild.add(parentRef);
      const branch = continues ? above.branch : ref;
      place.set(ref, { branch, depth: (above?.depth ?? -1) + 1 });
      const known = branches.get(branch);
      if (known) branches.set(branch, { ...known, leafId: ref });
      else {
        const hangs = above === undefined ? {} : { parentBranch: above.branch };
        branches.set(branch, {
          name: branch,
          startId: ref,
          parentId: parentRef,
          parentDepth: above?.depth ?? -1,
          ...hangs,
          leafId: ref,
        });
      }
    }
    return { place, branches: [...branches.values()] };
  }

  it('property: the newest leaf by branches is the newest leaf by walking', () => {
    fc.assert(
      fc.property(trees, (nodes) => {
        const { place, branches } = branchesOf(nodes);
        const messages = nodes.map(({ ref, parentRef }) => ({
          id: ref,
          parentId: parentRef,
          siblingIndex: 0,
        }));
        for (const { ref } of nodes) {
          assert.equal(
            newestLeafBelow(branches, place.get(ref) ?? { branch: '', depth: 0 }),
            findLeafFromMessage(messages, ref),
          );
        }
      }),
    );
  });

  it('knows nothing of a branch that is not there', () => {
    assert.equal(newestLeafBelow([], { branch: 'x', depth: 0 }), undefined);
  });
});
