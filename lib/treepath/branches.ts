/**
 * A run of first children: from its start (a root, or a further child of its parent) down to its leaf. A conversation
 * without branches is one of them, however long; so the leaves below a message are found without walking the tree.
 */
export type Branch = {
  readonly name: string;
  readonly startId: string;
  /** Where it hangs: the parent of its start; `null` for a root. */
  readonly parentId: string | null;
  /** Depth of that parent; -1 above all roots. */
  readonly parentDepth: number;
  /** The branch of that parent; absent for a root. */
  readonly parentBranch?: string;
  readonly leafId: string;
};

/** The newest leaf at or below a message, out of all branches of its channel; `undefined` when its own is missing. */
export function newestLeafBelow(
  branches: readonly Branch[],
  message: { readonly branch: string; readonly depth: number },
): string | undefined {
  const hanging = new Map<string, Branch[]>();
  for (const branch of branches) {
    if (branch.parentBranch === undefined) continue;
    const others = hanging.get(branch.parentBranch);
    if (others) others.push(branch);
    else hanging.set(branch.parentBranch, [branch]);
  }
  const own = branches.find(({ name }) => name === message.branch);
  let newest = own?.leafId;
  const waiting = (hanging.get(message.branch) ?? []).filter(
    ({ parentDepth }) => parentDepth >= message.depth,
  );
  for (let branch = waiting.pop(); branch !== undefined; branch = waiting.pop()) {
    if (newest === undefined || branch.leafId > newest) newest = branch.leafId;
    waiting.push(...(hanging.get(branch.name) ?? []));
  }
  return newest;
}
