import assert from 'node:assert/strict';
import { AppError } from '../../../lib/errors.ts';
import type { ApplyRequest, ImportedMessage, LeaseEnd } from '../../../lib/ports.ts';
import { createStore, type Store } from '../../../lib/store/index.ts';
import { PRESSURE_INDEX } from '../../../lib/store/table.ts';
import { newId } from '../../../lib/treepath/ids.ts';
import { type Message, ROLES } from '../../../lib/treepath/message.ts';
import { contextOfPath } from '../../../lib/treepath/summary.ts';
import type { Action, Command, Sequence, Start } from './commands.ts';
import { assertSound, type Dump, dumpOf, labelOf, stateOf } from './dump.ts';
import { Crash, type Fault, Gate, type Writer } from './faults.ts';
import { CLAIM_MS, COOLDOWN_MS, type ModelState, next, type Op, type Pending, type Step } from './state.ts';

const USERS = ['ann', 'bob'];
const LEASE_MS = 180_000;
const HOUR = 3_600_000;
const WAITS = [1_000, 200_000, 700_000, 2 * HOUR];

/** The second process's clock is hours behind. */
const SKEW = [0, -3 * HOUR];

/** Texts are short labels that weigh a lot, so that ten of them are near the bounds of the pressure index. */
const measure = (content: unknown) => ({
  tokens: 100 + String(content).length,
  chars: String(content).length * 900,
});

/** How often each operation ended in each way, over all sequences: a run that met too little proves little. */
export const met = new Map<string, number>();
const count = (what: string): void => {
  met.set(what, (met.get(what) ?? 0) + 1);
};

type Attempt = { readonly op: Op; readonly result: unknown };

/** One conversation in a table, with the model of it, and two processes that work on it. */
export class World {
  readonly #writers: readonly Writer[];
  readonly #stores: readonly Store[];
  readonly #table: string;
  readonly #base: number;
  readonly #pinned = new Map<string, readonly Message[]>();
  #pending: Pending[] = [];
  #now: number;
  #names = 0;
  #channelId = '';
  #state: ModelState | undefined;
  #dump: Dump | undefined;

  constructor(writers: readonly Writer[], table: string, run: number) {
    this.#writers = writers;
    this.#table = table;
    // A month of its own for every sequence: the ledgers are partitioned by time.
    this.#base = Date.UTC(2000, run, 1);
    this.#now = this.#base + 4 * HOUR;
    this.#stores = writers.map(({ client }, index) => {
      const clock = (): number => this.#now + (SKEW[index] ?? 0);
      return createStore({
        client,
        tableName: table,
        indexName: PRESSURE_INDEX,
        clock,
        newId: (after) => newId(clock(), after),
        measure,
      });
    });
  }

  async play({ start, commands }: Sequence): Promise<void> {
    await this.#begin(start);
    for (const command of commands) await this.#step(command);
    await this.#readEverything();
  }

  get #store(): Store {
    return this.#stores[0] as Store;
  }
  get state(): ModelState {
    assert.ok(this.#state);
    return this.#state;
  }
  get dump(): Dump {
    assert.ok(this.#dump);
    return this.#dump;
  }

  async #begin({ system, messages, branchAt }: Start): Promise<void> {
    const imported: ImportedMessage[] = [];
    const say = (role: Message['role'], parent: number): number => {
      this.#names += 1;
      const ref = `i${this.#names}`;
      imported.push({ ref, parentRef: imported[parent]?.ref ?? null, role, content: ref });
      return imported.length - 1;
    };
    let leaf = -1;
    for (let n = 0; n < system; n += 1) leaf = say('system', leaf);
    for (let n = 0; n < messages; n += 1) leaf = say(n % 2 === 0 ? 'user' : 'assistant', leaf);
    if (imported.length > 2) say('assistant', branchAt % (imported.length - 1));
    const current = imported.length > 2 ? (imported.at(-2)?.ref ?? null) : null;
    const channel = {
      ownerId: USERS[0] ?? '',
      title: 't',
      type: 'direct' as const,
      settings: {},
      model: this.#modelName(0),
    };
    const { id } = await this.#store.importChannel(channel, imported, current);
    this.#channelId = id;
    await this.#look();
    this.#state = { ...stateOf(this.dump), idempotent: {} };
    assert.deepEqual(
      imported.map(({ ref, parentRef }) => [ref, parentRef]),
      imported.map(({ ref }) => [ref, this.state.nodes[ref]?.parent]),
    );
  }

  #modelName(n: number): string {
    return `model-${new Date(this.#base).toISOString().slice(0, 7)}-${n}`;
  }

  async #look(): Promise<void> {
    const { client } = this.#writers[0] as Writer;
    const day = new Date(this.#base).toISOString().slice(0, 10);
    const before = this.#dump;
    this.#dump = await dumpOf(client, this.#table, this.#channelId, day);
    assertSound(this.#dump);
    for (const [id, item] of before?.messages ?? []) {
      const { content, metadata, sums }: Record<string, unknown> = this.#dump.messages.get(id) ?? {};
      assert.deepEqual(
        [content, metadata, sums],
        [item.content, item.metadata, item.sums],
        'no message ever changes',
      );
    }
  }

  get #ids(): Map<string, string> {
    return new Map([...this.dump.messages].map(([id, item]) => [labelOf(item), id]));
  }
  #label(id: unknown): string {
    return id === null ? 'null' : labelOf(this.dump.messages.get(String(id)) ?? { content: '"?"' });
  }

  async #step(command: Command): Promise<void> {
    const first = this.#opOf(command.action);
    const second = command.meanwhile && this.#opOf(command.meanwhile);
    if (first === undefined) return;
    const gate = second === undefined ? undefined : new Gate(command.order);
    const attempts = await Promise.all([
      this.#attempt(0, first, command.fault, gate),
      ...(second === undefined ? [] : [this.#attempt(1, second, undefined, gate)]),
    ]);
    await this.#look();
    for (const { op, result } of attempts)
      count(
        `${op.kind} ${(this.#told(op, result) ?? 'crash').split(' ')[0]?.replace(/^[imsk][a-z]*\d.*/u, 'ok')}`,
      );
    this.#settle(attempts);
    await this.#plan(attempts, command);
    await this.#readContext(USERS[0] ?? '');
  }

  async #attempt(index: number, op: Op, fault?: Fault, gate?: Gate): Promise<Attempt> {
    const writer = this.#writers[index] as Writer;
    const store = this.#stores[index] as Store;
    // A claim or a lease release whose answer was lost is sent again and finds its own work; it heals by expiry.
    const harmless = fault?.what === 'lost_answer' && (op.kind === 'claim' || op.kind === 'release');
    try {
      return {
        op,
        result: await writer.run(() => this.#execute(store, op), harmless ? undefined : fault, gate),
      };
    } catch (error) {
      if (error instanceof Crash || error instanceof AppError) return { op, result: error };
      throw error;
    }
  }

  /** Some order of what was done at once, with what crashed done or not done, explains what is in the table now. */
  #settle(attempts: readonly Attempt[]): void {
    const found = stateOf(this.dump);
    const orders = attempts.length > 1 ? [attempts, [...attempts].reverse()] : [attempts];
    const explanations = orders.flatMap((order) => this.#outcomes(order));
    const comparable = (state: ModelState) => ({
      ...state,
      idempotent: Object.fromEntries(
        Object.entries(state.idempotent).map(([key, { label }]) => [key, label]),
      ),
      usage: [...state.usage].sort(),
      audit: [...state.audit].sort(),
    });
    const fitting = explanations.find(({ state }) => {
      try {
        assert.deepEqual(comparable(state), found);
        return true;
      } catch {
        return false;
      }
    });
    if (fitting) this.#state = fitting.state;
    else {
      const told = attempts.map(
        ({ op, result }) => `${JSON.stringify(op)} → ${this.#told(op, result) ?? 'crash'}`,
      );
      const expected = orders[0]?.reduce<Step>(({ state }, { op }) => next(state, op, this.#ids), {
        state: this.state,
        told: '',
      });
      assert.deepEqual(
        found,
        expected && comparable(expected.state),
        `no order of these explains the table: ${told.join('; ')} (model: ${expected?.told})`,
      );
      assert.fail(
        `the table is right, but the caller was told otherwise: ${told.join('; ')} (model: ${expected?.told})`,
      );
    }
  }

  #outcomes(order: readonly Attempt[]): Step[] {
    let steps: Step[] = [{ state: this.state, told: '' }];
    for (const { op, result } of order) {
      steps = steps.flatMap(({ state }) => {
        const done = next(state, op, this.#ids);
        if (result instanceof Crash) return [done, { state, told: '' }];
        const told = this.#told(op, result);
        // Two that find each other's lease gone in the middle: both changed nothing, whichever word they have for it.
        const alike = order.length > 1 && told === 'stale' && done.told === 'lease_lost';
        return told === done.told || alike ? [done] : [];
      });
    }
    return steps;
  }

  #opOf(action: Action): Op | undefined {
    const labels = Object.keys(this.state.nodes).sort();
    const pickOf = <T>(items: readonly T[], pick: number): T | undefined =>
      items[pick % Math.max(1, items.length)];
    const now = this.#now;
    switch (action.kind) {
      case 'wait':
        this.#now += WAITS[action.pick] ?? 0;
        return undefined;
      case 'append': {
        const user = USERS[action.user] ?? '';
        const target = pickOf(labels, action.pick);
        const where = target === undefined ? 'root' : action.where;
        const place = where === 'cursor' ? {} : { parent: where === 'root' ? null : (target ?? null) };
        this.#names += 1;
        if (action.key !== undefined) {
          // Sent again, it is the same to the letter, or differs in its text alone.
          const label = `k${user}${action.key}${action.pick % 4 === 0 ? 'other' : ''}`;
          return { kind: 'append', user, label, role: 'user', branch: false, key: `${user}/${action.key}` };
        }
        return {
          kind: 'append',
          user,
          label: `m${this.#names}`,
          role: ROLES[action.role % ROLES.length] ?? 'user',
          branch: where === 'branch',
          ...(action.reported ? { reported: 777 } : {}),
          ...place,
        };
      }
      case 'switch': {
        const to = pickOf(labels, action.pick);
        return to === undefined ? undefined : { kind: 'switch', user: USERS[action.user] ?? '', to };
      }
      case 'undo':
      case 'redo':
        return { kind: action.kind, user: USERS[action.user] ?? '' };
      case 'update':
        return this.#updateOf(action.what);
      case 'lease':
        this.#names += 1;
        return { kind: 'lease', owner: `owner${this.#names}`, now, leaseMs: LEASE_MS };
      case 'apply': {
        const pending = pickOf(this.#pending.toReversed(), action.pick > 5 ? 1 : 0);
        return pending && { kind: 'apply', pending, now };
      }
      case 'end': {
        const pending = pickOf(this.#pending, action.pick);
        const how = (['released', 'no_progress', 'failed'] as const)[action.how] ?? 'released';
        return pending && { kind: 'end', pending, how, now };
      }
      case 'claim':
        return { kind: 'claim', tokens: action.tokens, now };
      case 'release':
      case 'delete':
        return { kind: action.kind };
    }
  }

  #updateOf(what: number): Op {
    const patches = [
      { archived: true },
      { archived: false },
      { auto: false },
      { auto: true },
      { auto: null },
      { threshold: 0.5 },
      { threshold: 0.5, model: this.#modelName(1) },
      { threshold: null },
      { model: this.#modelName(1) },
      { model: this.#modelName(0), archived: false },
      { title: `title ${what}` },
    ];
    return { kind: 'update', ...patches[what % patches.length] };
  }

  #execute(store: Store, op: Op): Promise<unknown> {
    const channelId = this.#channelId;
    const id = (label: string): string => this.#ids.get(label) ?? 'unknown';
    switch (op.kind) {
      case 'append':
        return store.append({
          channelId,
          userId: op.user,
          role: op.role,
          content: op.label,
          branch: op.branch,
          ...(op.reported === undefined ? {} : { reportedTokens: op.reported }),
          ...(op.parent === undefined ? {} : { parentId: op.parent === null ? null : id(op.parent) }),
          ...(op.key === undefined ? {} : { idempotencyKey: op.key.split('/')[1] ?? '' }),
        });
      case 'switch':
        return store.switchCursor(channelId, op.user, id(op.to));
      case 'undo':
        return store.undoSummary(channelId, op.user);
      case 'redo':
        return store.redoSummary(channelId, op.user);
      case 'delete':
        return store.deleteChannel(channelId);
      case 'update': {
        const { kind: _kind, auto, threshold, ...patch } = op;
        const settings = {
          ...(auto === undefined ? {} : { auto_compaction: auto }),
          ...(threshold === undefined ? {} : { compaction_threshold: threshold }),
        };
        return store.updateChannel(channelId, {
          ...patch,
          ...(Object.keys(settings).length > 0 ? { settings } : {}),
        });
      }
      case 'lease':
        return store.acquireLease(channelId, op.owner, op);
      case 'apply':
        return store.apply(this.#applyRequest(op.pending, op.now));
      case 'end': {
        const end: LeaseEnd =
          op.how === 'failed'
            ? { kind: 'failed', failures: 1, retryAfter: op.now + COOLDOWN_MS }
            : op.how === 'no_progress'
              ? { kind: 'no_progress', atTokens: 100 }
              : { kind: 'released' };
        const { lease, usage } = this.#applyRequest(op.pending, op.now);
        return store.endLease(lease, end, usage);
      }
      case 'claim':
        return store.claim(channelId, {
          tokens: op.tokens,
          now: op.now,
          claimMs: CLAIM_MS,
          cooldownMs: COOLDOWN_MS,
        });
      case 'release':
        return store.releaseClaim(channelId);
    }
  }

  #applyRequest(pending: Pending, now: number): ApplyRequest {
    const id = (label: string): string => this.#ids.get(label) ?? 'unknown';
    const channelId = this.#channelId;
    return {
      lease: { channelId, owner: pending.owner, fence: pending.fence },
      userId: pending.user,
      plannedLeafId: id(pending.planned),
      pinned: this.#pinned.get(pending.label) ?? [],
      draft: {
        content: pending.label,
        ...measure(pending.label),
        metadata: {
          type: 'summary',
          trigger: pending.trigger,
          strategy: 'summary',
          coversFrom: id(pending.from),
          coversUntil: id(pending.until),
          summarizedCount: 1,
          tokensBefore: 1,
          model: 'x',
          usedFallback: false,
          profile: 'channel',
          promptVersion: '1',
          ...(pending.previous === undefined ? {} : { previousSummaryId: id(pending.previous) }),
        },
      },
      usage: [
        {
          id: `usage of ${pending.label}`,
          at: this.#base,
          channelId,
          userId: pending.user,
          role: 'utility',
          model: 'x',
          inputTokens: 1,
          outputTokens: 1,
          metadata: { trigger: pending.trigger, outcome: 'ok', used_fallback: false },
        },
      ],
      audit: {
        id: `audit of ${pending.label}`,
        at: this.#base,
        actor: 'x',
        action: 'x',
        resource: 'x',
        details: {},
      },
      now,
    };
  }

  /** What the caller was told, in the words of the model; `undefined` after a crash. */
  #told(op: Op, result: unknown): string | undefined {
    if (result instanceof Crash) return undefined;
    if (result instanceof AppError) return result.code;
    const read = (result ?? {}) as Record<string, unknown>;
    switch (op.kind) {
      case 'append': {
        const message = read.message as Message;
        assert.equal(
          read.redirectedFrom !== undefined,
          typeof op.parent === 'string' && this.#label(message.parentId) !== op.parent,
        );
        const label = this.#label(message.id);
        return read.replayed === true
          ? `replayed ${label}`
          : `${label} below ${this.#label(message.parentId)}`;
      }
      case 'switch':
      case 'undo':
      case 'redo':
        return this.#label(read.leafId);
      case 'lease':
        return result === undefined ? 'busy' : `fence ${String(read.fence)}`;
      case 'apply':
        return read.outcome === 'applied'
          ? `applied below ${this.#label((read.summary as Message).parentId)}`
          : String(read.outcome);
      case 'claim':
        return read.claimed === true ? 'claimed' : String(read.reason);
      default:
        return 'ok';
    }
  }

  /** Whoever got the lease reads the context and plans, as a compaction does. */
  async #plan(attempts: readonly Attempt[], command: Command): Promise<void> {
    for (const [index, { op, result }] of attempts.entries()) {
      const action = index === 0 ? command.action : command.meanwhile;
      if (op.kind !== 'lease' || action?.kind !== 'lease' || result instanceof Error || result === undefined)
        continue;
      if (this.state.deleted) continue;
      const user = USERS[action.user] ?? '';
      const { cursor, messages, pinned, summary } = await this.#store.readContext(this.#channelId, user);
      const first = messages[0];
      const last = messages[action.cut % Math.max(1, messages.length)];
      if (first === undefined || last === undefined) continue;
      this.#names += 1;
      const label = `s${this.#names}`;
      this.#pinned.set(label, pinned);
      this.#pending.push({
        owner: op.owner,
        user,
        fence: (result as { fence: number }).fence,
        trigger: action.auto ? 'auto' : 'manual',
        planned: this.#label(cursor.leafId),
        from: this.#label(first.id),
        until: this.#label(last.id),
        ...(summary === undefined ? {} : { previous: this.#label(summary.id) }),
        label,
      });
    }
  }

  #path(leafId: unknown): Message[] {
    const path: Message[] = [];
    for (
      let item = this.dump.messages.get(String(leafId));
      item;
      item = this.dump.messages.get(String(item.parentId))
    ) {
      path.unshift({
        ...item,
        content: labelOf(item),
        metadata: JSON.parse(String(item.metadata)),
      } as unknown as Message);
    }
    return path;
  }

  /** The store's bounded read equals the context worked out from the whole path. */
  async #readContext(user: string, leafId?: string): Promise<void> {
    if (this.state.deleted) {
      await assert.rejects(this.#store.readContext(this.#channelId, user), { code: 'channel_not_found' });
      return;
    }
    const read = await this.#store.readContext(this.#channelId, user, leafId);
    const expected = contextOfPath(this.#path(leafId ?? this.#ids.get(this.state.cursors[user] ?? '')));
    const ids = (messages: readonly Message[]) => messages.map(({ id, content }) => [id, content]);
    assert.deepEqual(ids(read.pinned), ids(expected.pinned), 'pinned');
    assert.deepEqual(read.summary?.id, expected.summary?.id, 'summary');
    assert.deepEqual(ids(read.messages), ids(expected.messages), 'messages of the context');
  }

  async #readEverything(): Promise<void> {
    for (const user of USERS) await this.#readContext(user);
    if (this.state.deleted) return;
    for (const id of this.dump.messages.keys()) await this.#readContext(USERS[1] ?? '', id);
    await this.#readPaths();
    await this.#readIndex();
  }

  async #readPaths(): Promise<void> {
    const [user = ''] = USERS;
    const whole = this.#path(this.#ids.get(this.state.cursors[user] ?? ''));
    const found: string[] = [];
    let before: string | undefined;
    do {
      const page = await this.#store.readPath(this.#channelId, user, {
        limit: 3,
        ...(before === undefined ? {} : { before }),
      });
      for (const message of page.messages) {
        const siblings = await this.#store.siblings(this.#channelId, message.id);
        assert.equal(message.siblingCount, siblings.length);
        assert.equal(siblings[message.siblingIndex]?.id, message.id);
      }
      found.unshift(...page.messages.map(({ id }) => id));
      before = page.next;
    } while (before !== undefined);
    assert.deepEqual(
      found,
      whole.map(({ id }) => id),
      'the path, page by page',
    );
  }

  async #readIndex(): Promise<void> {
    const found = [];
    for (const half of ['default', 'overridden'] as const) {
      const query = { modelKey: this.state.model, half, minTokens: 0, limit: 10 };
      found.push(
        ...(await this.#store.findPressed(query)).map(({ userId, tokens }) => `${userId} ${tokens}`),
      );
    }
    const expected = this.dump.cursors.flatMap(({ pressurePk, userId, tokens }) =>
      pressurePk === undefined ? [] : [`${String(userId)} ${String(tokens)}`],
    );
    assert.deepEqual(found.sort(), expected.sort(), 'the pressure index');
  }
}
