import type { SkipReason } from '../../../lib/ports.ts';
import type { Role, Trigger } from '../../../lib/treepath/message.ts';

/**
 * The reference: what a conversation is, in the fewest words. Messages are known by their unique text (label); every
 * operation is a pure function from one state to the next and what the caller is told.
 */
export type ModelNode = {
  readonly parent: string | null;
  readonly index: number;
  readonly role: Role;
  readonly reported?: number;
  readonly summary?: { readonly from: string; readonly until: string; readonly previous?: string };
  readonly follow?: string;
  readonly undone?: { readonly summary: string; readonly leaf: string };
};

export type ModelState = {
  readonly nodes: Readonly<Record<string, ModelNode>>;
  readonly cursors: Readonly<Record<string, string>>;
  readonly deleted: boolean;
  readonly archived: boolean;
  readonly title: string;
  readonly model: string;
  readonly auto?: boolean;
  readonly threshold?: number;
  readonly fence: number;
  readonly lease?: { readonly owner: string; readonly until: number };
  readonly claimedUntil?: number;
  readonly lastAutoAt?: number;
  readonly failures?: number;
  readonly retryAfter?: number;
  readonly noProgressAt?: number;
  readonly idempotent: Readonly<Record<string, { readonly request: string; readonly label: string }>>;
  readonly usage: readonly string[];
  readonly audit: readonly string[];
};

export type Pending = {
  readonly owner: string;
  readonly user: string;
  readonly fence: number;
  readonly trigger: Trigger;
  readonly planned: string;
  readonly from: string;
  readonly until: string;
  readonly previous?: string;
  readonly label: string;
};

export type Op =
  | {
      readonly kind: 'append';
      readonly user: string;
      readonly label: string;
      readonly role: Role;
      readonly reported?: number;
      /** Absent: at the cursor. */
      readonly parent?: string | null;
      readonly branch: boolean;
      readonly key?: string;
    }
  | { readonly kind: 'switch'; readonly user: string; readonly to: string }
  | { readonly kind: 'undo' | 'redo'; readonly user: string }
  | { readonly kind: 'delete' }
  | {
      readonly kind: 'update';
      readonly archived?: boolean;
      readonly title?: string;
      readonly model?: string;
      readonly auto?: boolean | null;
      readonly threshold?: number | null;
    }
  | { readonly kind: 'lease'; readonly owner: string; readonly now: number; readonly leaseMs: number }
  | { readonly kind: 'apply'; readonly pending: Pending; readonly now: number }
  | {
      readonly kind: 'end';
      readonly pending: Pending;
      readonly how: 'released' | 'no_progress' | 'failed';
      readonly now: number;
    }
  | { readonly kind: 'claim'; readonly tokens: number; readonly now: number }
  | { readonly kind: 'release' };

/** What the caller is told: an error's code, or the few words of a result. */
export type Told = string;
export type Step = { readonly state: ModelState; readonly told: Told };

export const CLAIM_MS = 600_000;
export const COOLDOWN_MS = 1_800_000;

/** Ids of the table by label: the order of leaves is the one thing that the model cannot know by itself. */
export type Ids = ReadonlyMap<string, string>;

const childrenOf = (state: ModelState, parent: string | null): string[] =>
  Object.keys(state.nodes).filter((label) => state.nodes[label]?.parent === parent);

export function pathTo(state: ModelState, leaf: string | undefined): string[] {
  const path: string[] = [];
  for (let label: string | null = leaf ?? null; label !== null; label = state.nodes[label]?.parent ?? null) {
    path.unshift(label);
  }
  return path;
}

export const boundaryOf = (state: ModelState, leaf: string | undefined): string | undefined =>
  pathTo(state, leaf).findLast((label) => state.nodes[label]?.summary !== undefined);

function newestLeaf(state: ModelState, label: string, ids: Ids): string {
  const below = childrenOf(state, label);
  const leaves = below.map((child) => newestLeaf(state, child, ids));
  return leaves.reduce((a, b) => ((ids.get(a) ?? '') > (ids.get(b) ?? '') ? a : b), leaves[0] ?? label);
}

const withNode = (state: ModelState, label: string, node: Partial<ModelNode>): ModelState['nodes'] => ({
  ...state.nodes,
  [label]: { ...(state.nodes[label] as ModelNode), ...node },
});

const without = <T extends object, K extends keyof T>(from: T, ...names: K[]): Omit<T, K> =>
  Object.fromEntries(Object.entries(from).filter(([name]) => !names.includes(name as K))) as Omit<T, K>;

const same = (state: ModelState, told: Told): Step => ({ state, told });

export function next(state: ModelState, op: Op, ids: Ids): Step {
  if (op.kind === 'apply') return apply(state, op.pending, op.now);
  if (op.kind === 'end') return end(state, op);
  if (op.kind === 'claim') return claim(state, op);
  if (op.kind === 'release') return same(without(state, 'claimedUntil'), 'ok');
  if (state.deleted) return same(state, 'channel_not_found');
  switch (op.kind) {
    case 'append':
      return append(state, op);
    case 'switch': {
      const leaf = newestLeaf(state, op.to, ids);
      return { state: { ...state, cursors: { ...state.cursors, [op.user]: leaf } }, told: leaf };
    }
    case 'undo':
      return undo(state, op.user);
    case 'redo':
      return redo(state, op.user);
    case 'delete':
      return { state: { ...state, deleted: true }, told: 'ok' };
    case 'update':
      return { state: update(state, op), told: 'ok' };
    case 'lease':
      if (state.lease && state.lease.until > op.now) return same(state, 'busy');
      return {
        state: { ...state, fence: state.fence + 1, lease: { owner: op.owner, until: op.now + op.leaseMs } },
        told: `fence ${state.fence + 1}`,
      };
  }
}

function append(state: ModelState, op: Extract<Op, { kind: 'append' }>): Step {
  const request = JSON.stringify(op);
  const seen = op.key === undefined ? undefined : state.idempotent[op.key];
  if (seen)
    return same(state, seen.request === request ? `replayed ${seen.label}` : 'idempotency_key_reused');
  let parent = op.parent === undefined ? (state.cursors[op.user] ?? null) : op.parent;
  if (typeof op.parent === 'string' && !op.branch) {
    for (let follow = state.nodes[op.parent]?.follow; follow; follow = state.nodes[follow]?.follow)
      parent = follow;
  }
  const node: ModelNode = {
    parent,
    index: childrenOf(state, parent).length,
    role: op.role,
    ...(op.reported === undefined ? {} : { reported: op.reported }),
  };
  return {
    state: {
      ...state,
      nodes: { ...state.nodes, [op.label]: node },
      cursors: { ...state.cursors, [op.user]: op.label },
      idempotent:
        op.key === undefined
          ? state.idempotent
          : { ...state.idempotent, [op.key]: { request, label: op.label } },
    },
    told: `${op.label} below ${parent}`,
  };
}

function undo(state: ModelState, user: string): Step {
  const leaf = state.cursors[user];
  const summary = boundaryOf(state, leaf);
  const parent = summary && state.nodes[summary]?.parent;
  if (leaf === undefined || !summary || !parent) return same(state, 'nothing_to_undo');
  const { follow, ...node } = state.nodes[parent] as ModelNode;
  const kept = follow === undefined || follow === summary ? {} : { follow };
  return {
    state: {
      ...state,
      nodes: { ...state.nodes, [parent]: { ...node, ...kept, undone: { summary, leaf } } },
      cursors: { ...state.cursors, [user]: parent },
    },
    told: parent,
  };
}

function redo(state: ModelState, user: string): Step {
  const at = state.cursors[user];
  const node = at === undefined ? undefined : state.nodes[at];
  if (at === undefined || node?.undone === undefined) return same(state, 'nothing_to_redo');
  const { undone, ...rest } = node;
  return {
    state: {
      ...state,
      nodes: { ...state.nodes, [at]: { ...rest, follow: undone.summary } },
      cursors: { ...state.cursors, [user]: undone.leaf },
    },
    told: undone.leaf,
  };
}

function update(state: ModelState, op: Extract<Op, { kind: 'update' }>): ModelState {
  const { auto, threshold, ...rest } = state;
  const newAuto = op.auto === undefined ? auto : (op.auto ?? undefined);
  const newThreshold = op.threshold === undefined ? threshold : (op.threshold ?? undefined);
  return {
    ...rest,
    title: op.title ?? state.title,
    archived: op.archived ?? state.archived,
    model: op.model ?? state.model,
    ...(newAuto === undefined ? {} : { auto: newAuto }),
    ...(newThreshold === undefined ? {} : { threshold: newThreshold }),
  };
}

const holds = (state: ModelState, pending: Pending): boolean =>
  state.fence === pending.fence && state.lease?.owner === pending.owner;

const usageOf = (pending: Pending): string => `usage of ${pending.label}`;
const recorded = (state: ModelState, pending: Pending): ModelState => ({
  ...state,
  usage: [...new Set([...state.usage, usageOf(pending)])],
});

function end(before: ModelState, op: Extract<Op, { kind: 'end' }>): Step {
  const state = recorded(before, op.pending);
  if (!holds(state, op.pending)) return same(state, 'ok');
  const free = without(state, 'lease', 'claimedUntil');
  if (op.how === 'failed') return same({ ...free, failures: 1, retryAfter: op.now + COOLDOWN_MS }, 'ok');
  if (op.how === 'no_progress') return same({ ...free, noProgressAt: 100 }, 'ok');
  return same(free, 'ok');
}

function apply(before: ModelState, pending: Pending, now: number): Step {
  const stale = (): Step => ({
    ...end(before, { kind: 'end', pending, how: 'released', now }),
    told: 'stale',
  });
  const state = recorded(before, pending);
  if (state.deleted) return stale();
  if (!holds(state, pending)) return same(state, 'lease_lost');
  if (state.archived || (pending.trigger === 'auto' && state.auto === false)) return stale();
  const leaf = state.cursors[pending.user];
  const path = pathTo(state, leaf);
  const fits = path.includes(pending.until) && path.includes(pending.planned);
  if (leaf === undefined || !fits || boundaryOf(state, leaf) !== pending.previous) return stale();
  const { from, until, previous, label } = pending;
  const node: ModelNode = {
    parent: leaf,
    index: childrenOf(state, leaf).length,
    role: 'assistant',
    summary: { from, until, ...(previous === undefined ? {} : { previous }) },
  };
  const free = without(state, 'lease', 'claimedUntil', 'failures', 'retryAfter', 'noProgressAt');
  return {
    state: {
      ...free,
      nodes: { ...withNode(state, leaf, { follow: label }), [label]: node },
      cursors: { ...state.cursors, [pending.user]: label },
      audit: [...state.audit, `audit of ${label}`],
      ...(pending.trigger === 'auto' ? { lastAutoAt: now } : {}),
    },
    told: `applied below ${leaf}`,
  };
}

function claim(state: ModelState, { now, tokens }: { now: number; tokens: number }): Step {
  const no = (reason: SkipReason): Step => same(state, reason);
  if (state.deleted) return no('deleted');
  if (state.archived) return no('archived');
  if (state.auto === false) return no('opted_out');
  if (state.lease && state.lease.until > now) return no('in_flight');
  if (state.claimedUntil !== undefined && state.claimedUntil > now) return no('queued');
  if (state.lastAutoAt !== undefined && state.lastAutoAt + COOLDOWN_MS > now) return no('cooldown');
  if (state.retryAfter !== undefined && state.retryAfter > now) return no('backing_off');
  if (state.noProgressAt !== undefined && state.noProgressAt >= tokens) return no('no_progress');
  return same({ ...state, claimedUntil: now + CLAIM_MS }, 'claimed');
}
