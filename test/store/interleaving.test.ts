import { describe, it } from 'node:test';
import { MemoryTable } from '../support/memory-table.ts';
import type { Action, Command, Start } from './model/commands.ts';
import { toMemory, Writer } from './model/faults.ts';
import { World } from './model/world.ts';

const TWELVE: Start = { system: 0, messages: 12, branchAt: 11 };
const REQUESTS = 5;

/** Every order in which the requests of two operations can reach the table. */
const orders = Array.from({ length: 2 ** REQUESTS }, (_, n) =>
  Array.from({ length: REQUESTS }, (_bit, index) => (n >> index) & 1),
);

async function play(commands: readonly Command[], start: Start = TWELVE): Promise<void> {
  const table = new MemoryTable();
  await new World([new Writer(0, toMemory(table)), new Writer(1, toMemory(table))], 'memory', 0).play({
    start,
    commands,
  });
}

const ann = 0;
const bob = 1;
const alone = (action: Action): Command => ({ action, order: [] });
/** Labels in their order are i1, i10, i11, i12, i13, i2 …; i13 is a second answer to i12. */
const I12 = 3;
const say = (user: number, where: 'cursor' | 'below' | 'branch', pick = 0): Action => ({
  kind: 'append',
  user,
  where,
  pick,
  role: 1,
  reported: false,
  key: undefined,
});
const lease = (user: number, cut: number): Action => ({ kind: 'lease', user, cut, auto: true });
const apply: Action = { kind: 'apply', pick: 0 };
const archive: Action = { kind: 'update', what: 0 };
const override: Action = { kind: 'update', what: 5 };

/** What came before, then two operations at once. */
const pairs: Record<string, { before?: Action[]; pair: [Action, Action]; after?: Action[] }> = {
  'a first cursor while the channel is archived': {
    pair: [archive, { kind: 'switch', user: bob, pick: I12 }],
  },
  'a first branch while the threshold changes': { pair: [override, say(bob, 'below', I12)] },
  'two answers to one message': { pair: [say(ann, 'cursor'), say(bob, 'below', I12)] },
  'an answer while the summary is applied': { before: [lease(ann, 4)], pair: [apply, say(ann, 'cursor')] },
  'a late answer while the summary is applied': {
    before: [lease(ann, 4)],
    pair: [apply, say(ann, 'below', I12)],
  },
  'archiving while the summary is applied': { before: [lease(ann, 0)], pair: [apply, archive] },
  'deleting while the summary is applied': { before: [lease(ann, 4)], pair: [apply, { kind: 'delete' }] },
  'the same summary applied twice': { before: [lease(ann, 4)], pair: [apply, apply] },
  'a claim while one is given back': {
    before: [{ kind: 'claim', tokens: 50 }],
    pair: [{ kind: 'claim', tokens: 50 }, { kind: 'release' }],
  },
  'two leases': { pair: [lease(ann, 1), lease(ann, 2)] },
  'undo while a reply comes in': {
    before: [lease(ann, 4), apply],
    pair: [{ kind: 'undo', user: ann }, say(ann, 'cursor')],
    after: [{ kind: 'redo', user: ann }],
  },
  'redo while a reply comes in': {
    before: [lease(ann, 4), apply, { kind: 'undo', user: ann }],
    pair: [{ kind: 'redo', user: ann }, say(bob, 'below', I12)],
  },
  'two people undo': {
    before: [lease(ann, 4), apply, { kind: 'switch', user: bob, pick: 14 }],
    pair: [
      { kind: 'undo', user: ann },
      { kind: 'undo', user: bob },
    ],
    after: [
      { kind: 'redo', user: ann },
      { kind: 'redo', user: bob },
    ],
  },
};

describe('two operations at once, in every order of their requests', () => {
  for (const [name, { before = [], pair, after = [] }] of Object.entries(pairs)) {
    it(name, async () => {
      for (const order of orders) {
        const [action, meanwhile] = pair;
        await play([...before.map(alone), { action, meanwhile, order }, ...after.map(alone)]);
      }
    });
  }
});

describe('what the model run found, or would find once in many thousand runs', () => {
  it('a second compaction whose kept tail holds the first summary', () =>
    play([lease(ann, 6), apply, lease(ann, 1), apply, lease(ann, 0), apply].map(alone)));

  it('an undo leaves the summary that another person put there since', () =>
    play(
      [
        { kind: 'switch', user: bob, pick: I12 } as const,
        lease(ann, 4),
        apply,
        lease(bob, 5),
        apply,
        { kind: 'undo', user: ann } as const,
        say(ann, 'below', I12),
      ].map(alone),
      { ...TWELVE, messages: 12, branchAt: 0 },
    ));

  it('two summaries are undone and come back one by one', () =>
    play(
      [
        lease(ann, 4),
        apply,
        say(ann, 'cursor'),
        lease(ann, 3),
        apply,
        ...(['undo', 'undo', 'redo', 'redo', 'redo'] as const).map((kind): Action => ({ kind, user: ann })),
      ].map(alone),
    ));
});
