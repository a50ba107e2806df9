import fc from 'fast-check';
import type { Fault } from './faults.ts';

/** What a sequence does, with picks in place of names: they are taken modulo what there is when their turn comes. */
export type Action =
  | {
      readonly kind: 'append';
      readonly user: number;
      readonly where: 'cursor' | 'below' | 'branch' | 'root';
      readonly pick: number;
      readonly role: number;
      readonly reported: boolean;
      readonly key: number | undefined;
    }
  | { readonly kind: 'switch'; readonly user: number; readonly pick: number }
  | { readonly kind: 'undo' | 'redo'; readonly user: number }
  | { readonly kind: 'delete' }
  | { readonly kind: 'update'; readonly what: number }
  | { readonly kind: 'lease'; readonly user: number; readonly cut: number; readonly auto: boolean }
  | { readonly kind: 'apply'; readonly pick: number }
  | { readonly kind: 'end'; readonly pick: number; readonly how: number }
  | { readonly kind: 'claim'; readonly tokens: number }
  | { readonly kind: 'release' }
  | { readonly kind: 'wait'; readonly pick: number };

export type Command = {
  readonly action: Action;
  /** Another process that does this at the same time. */
  readonly meanwhile?: Action;
  /** Whose request goes next, while two processes are at it. */
  readonly order: readonly number[];
  readonly fault?: Fault;
};

export type Start = { readonly system: number; readonly messages: number; readonly branchAt: number };
export type Sequence = { readonly start: Start; readonly commands: readonly Command[] };

const user = fc.nat({ max: 7 }).map((n) => (n === 0 ? 1 : 0));
const pick = fc.nat({ max: 40 });

/** Mostly nothing: a sequence that goes wrong all the time gets nowhere. */
const sometimes = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: 2, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('append' as const),
      user,
      where: fc.constantFrom(
        'cursor' as const,
        'cursor' as const,
        'below' as const,
        'branch' as const,
        'root' as const,
      ),
      pick,
      role: fc.nat({ max: 4 }),
      reported: fc.nat({ max: 5 }).map((n) => n === 0),
      key: sometimes(fc.nat({ max: 1 })),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('switch' as const), user, pick }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('undo' as const), user }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('redo' as const), user }) },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('lease' as const), user, cut: pick, auto: fc.boolean() }),
  },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('apply' as const), pick: fc.nat({ max: 8 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('end' as const), pick, how: fc.nat({ max: 2 }) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('update' as const), what: fc.nat({ max: 20 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('claim' as const), tokens: fc.constantFrom(50, 500) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('wait' as const), pick: fc.nat({ max: 3 }) }) },
  {
    weight: 1,
    arbitrary: fc
      .nat({ max: 3 })
      .map((n) => (n === 0 ? { kind: 'delete' as const } : { kind: 'release' as const })),
  },
);

const fault: fc.Arbitrary<Fault> = fc.record({
  at: fc.integer({ min: 1, max: 4 }),
  what: fc.constantFrom('crash_before', 'crash_after', 'conflict', 'throttle', 'lost_answer'),
});

const command: fc.Arbitrary<Command> = fc
  .record({
    action,
    meanwhile: sometimes(action),
    order: fc.array(fc.nat({ max: 1 }), { minLength: 3, maxLength: 8 }),
    fault: sometimes(fault),
  })
  .map(({ action: first, meanwhile, order, fault: wrong }) => ({
    action: first,
    order,
    ...(meanwhile === undefined ? {} : { meanwhile }),
    ...(wrong === undefined ? {} : { fault: wrong }),
  }));

export const sequences: fc.Arbitrary<Sequence> = fc.record({
  start: fc.record({
    system: fc.nat({ max: 2 }),
    messages: fc.constantFrom(0, 3, 8, 12),
    branchAt: fc.nat({ max: 12 }),
  }),
  commands: fc.array(command, { minLength: 1, maxLength: 14, size: 'max' }),
});
