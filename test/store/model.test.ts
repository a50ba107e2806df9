import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { startEngine, startStore } from '../support/dynamo.ts';
import { MemoryTable } from '../support/memory-table.ts';
import { sequences } from './model/commands.ts';
import { toEngine, toMemory, Writer } from './model/faults.ts';
import { met, World } from './model/world.ts';

/** Sequences of the ordinary run; `STORE_MODEL_RUNS=50000` is the long one, `STORE_MODEL_SEED` repeats one. */
const RUNS = Number(process.env.STORE_MODEL_RUNS ?? 1_000);
const SEED = process.env.STORE_MODEL_SEED;
const ON_ENGINE = 15;

const options = (numRuns: number) => ({ numRuns, ...(SEED === undefined ? {} : { seed: Number(SEED) }) });

describe('the table against the model of a conversation', () => {
  it('holds every invariant whatever two processes do at once, and wherever they crash', async () => {
    await fc.assert(
      fc.asyncProperty(sequences, async (sequence) => {
        const table = new MemoryTable();
        const writers = [new Writer(0, toMemory(table)), new Writer(1, toMemory(table))];
        await new World(writers, 'memory', 0).play(sequence);
      }),
      options(RUNS),
    );
    if (process.env.STORE_MODEL_SHOW)
      console.log(
        [...met]
          .sort()
          .map(([what, n]) => `${what}: ${n}`)
          .join('\n'),
      );
  });

  it('does so on a real engine', async () => {
    const engine = await startEngine();
    const { tableName } = await startStore(engine);
    const writers = [new Writer(0, toEngine(engine.endpoint)), new Writer(1, toEngine(engine.endpoint))];
    let run = 0;
    await fc.assert(
      fc.asyncProperty(sequences, async (sequence) => {
        run += 1;
        await new World(writers, tableName, run).play(sequence);
      }),
      options(ON_ENGINE),
    );
  });

  it('met every end that an operation can have', { skip: SEED !== undefined || RUNS < 1_000 }, () => {
    const ends = [
      ...['ok', 'crash', 'replayed', 'idempotency_key_reused', 'channel_not_found'].map(
        (end) => `append ${end}`,
      ),
      ...['applied', 'crash', 'stale', 'lease_lost'].map((end) => `apply ${end}`),
      ...['ok', 'crash', 'nothing_to_undo'].map((end) => `undo ${end}`),
      ...['crash', 'nothing_to_redo'].map((end) => `redo ${end}`),
      ...['ok', 'crash'].flatMap((end) => [`switch ${end}`, `update ${end}`]),
      ...['claimed', 'in_flight'].map((end) => `claim ${end}`),
      'lease busy',
    ];
    assert.deepEqual(
      ends.filter((end) => !met.has(end)),
      [],
    );
  });
});
