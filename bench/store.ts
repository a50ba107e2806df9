import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { CreateTableCommand, waitUntilTableExists } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { ImportedMessage } from '../lib/ports.ts';
import { createStore, type Store } from '../lib/store/index.ts';
import { PRESSURE_INDEX, tableDefinition } from '../lib/store/table.ts';
import { newId } from '../lib/treepath/ids.ts';
import type { Message } from '../lib/treepath/message.ts';
import { givenEngine, startEngine } from '../test/support/engine.ts';

/**
 * What an access costs, counted and not timed: requests, how many of them one after the other, and capacity units, for
 * conversations of very different length that all have the same twenty messages after their summary.
 * `node bench/store.ts [--json] [length ...]`; the figures go to `bench/results/store.json` as well.
 */
const LENGTHS = [100, 1_000, 10_000, 100_000];
const OUT = resolve(import.meta.dirname, 'results/store.json');
const AFTER_SUMMARY = 20;
const TEXT = 'word '.repeat(80);
const USER = 'bench';

type Cost = { readonly requests: number; readonly rounds: number; readonly units: number };
type Row = { readonly messages: number; readonly access: string } & Cost;

/** Counts what goes through a client: a round begins with a request while none is under way. */
class Meter {
  #requests = 0;
  #rounds = 0;
  #units = 0;
  #underWay = 0;

  watch(client: DynamoDBDocumentClient): void {
    client.middlewareStack.add(
      (next) => async (args) => {
        if (this.#underWay === 0) this.#rounds += 1;
        this.#requests += 1;
        this.#underWay += 1;
        try {
          Object.assign(args.input, { ReturnConsumedCapacity: 'TOTAL' });
          const answer = await next(args);
          const { ConsumedCapacity: used } = answer.output as { ConsumedCapacity?: unknown };
          for (const one of [used ?? []].flat() as { CapacityUnits?: number }[])
            this.#units += one.CapacityUnits ?? 0;
          return answer;
        } finally {
          this.#underWay -= 1;
        }
      },
      { step: 'initialize', name: 'meter', priority: 'high' },
    );
  }

  async measure(access: () => Promise<unknown>): Promise<Cost> {
    [this.#requests, this.#rounds, this.#units] = [0, 0, 0];
    await access();
    return { requests: this.#requests, rounds: this.#rounds, units: this.#units };
  }
}

const conversation = (length: number): ImportedMessage[] =>
  Array.from({ length }, (_, n) => ({
    ref: `${n}`,
    parentRef: n === 0 ? null : `${n - 1}`,
    role: n % 2 === 0 ? 'user' : 'assistant',
    content: TEXT,
  }));

async function compact(store: Store, channelId: string, tail: readonly Message[]): Promise<void> {
  const [until, leaf] = [tail[0], tail.at(-1)];
  const now = Date.now();
  const lease = await store.acquireLease(channelId, 'bench', { now, leaseMs: 60_000 });
  if (until === undefined || leaf === undefined || lease === undefined) throw new Error('nothing to compact');
  await store.apply({
    lease,
    userId: USER,
    plannedLeafId: leaf.id,
    pinned: [],
    draft: {
      content: 'what was said before',
      tokens: 9,
      chars: 20,
      metadata: {
        type: 'summary',
        trigger: 'manual',
        strategy: 'summary',
        coversFrom: until.id,
        coversUntil: until.id,
        summarizedCount: 1,
        tokensBefore: leaf.sums.tokens,
        model: 'none',
        usedFallback: false,
        profile: 'channel',
        promptVersion: '0',
      },
    },
    usage: [],
    audit: { id: lease.owner, at: now, actor: USER, action: 'bench', resource: channelId, details: {} },
    now,
  });
}

/** Every access once, on one conversation of this length. */
async function costs(store: Store, meter: Meter, length: number): Promise<Row[]> {
  const channel = { ownerId: USER, title: 'bench', type: 'direct' as const, settings: {} };
  const { id } = await store.importChannel(channel, conversation(length), null);
  const { messages } = await store.readPath(id, USER, { limit: AFTER_SUMMARY + 1 });
  let leafId: string | undefined;
  const say = async (parentId?: string): Promise<void> => {
    const place = parentId === undefined ? {} : { parentId };
    const said = await store.append({ channelId: id, userId: USER, role: 'user', content: TEXT, ...place });
    leafId = said.message.id;
  };
  const accesses: [string, () => Promise<unknown>][] = [
    ['apply a summary', () => compact(store, id, messages)],
    ['append', () => say()],
    ['append below a named parent', () => say(leafId)],
    ['pressure of the leaf', () => store.getCursor(id, USER)],
    ['context', () => store.readContext(id, USER)],
    ['path, newest 20', () => store.readPath(id, USER, { limit: 20 })],
    ['undo', () => store.undoSummary(id, USER)],
    ['redo', () => store.redoSummary(id, USER)],
    [
      'branch',
      () =>
        store.append({
          channelId: id,
          userId: USER,
          role: 'user',
          content: TEXT,
          parentId: messages[1]?.id ?? null,
          branch: true,
        }),
    ],
    ['siblings', () => store.siblings(id, messages[2]?.id ?? '')],
    ['switch to the newest leaf', () => store.switchCursor(id, USER, messages[0]?.id ?? '')],
  ];
  const rows: Row[] = [];
  for (const [access, run] of accesses)
    rows.push({ messages: length, access, ...(await meter.measure(run)) });
  return rows;
}

const number = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: 1 });

function table(rows: readonly Row[]): string {
  const lengths = [...new Set(rows.map(({ messages }) => messages))];
  const accesses = [...new Set(rows.map(({ access }) => access))];
  const head = ['requests / rounds / units', ...lengths.map((length) => `${number(length)} messages`)];
  const body = accesses.map((access) => [
    access,
    ...lengths.map((length) => {
      const row = rows.find((one) => one.access === access && one.messages === length);
      return row ? `${row.requests} / ${row.rounds} / ${number(row.units)}` : '';
    }),
  ]);
  const widths = head.map((_, column) =>
    Math.max(...[head, ...body].map((line) => line[column]?.length ?? 0)),
  );
  return [head, ...body]
    .map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .join('\n');
}

async function main(args: readonly string[]): Promise<void> {
  const wanted = args.filter((arg) => /^\d+$/u.test(arg)).map(Number);
  const engine = givenEngine() ?? (await startEngine());
  try {
    const name = `bench-${process.pid}`;
    await engine.client.send(new CreateTableCommand(tableDefinition(name)));
    await waitUntilTableExists(
      { client: engine.client, maxWaitTime: 60, minDelay: 0.1, maxDelay: 1 },
      { TableName: name },
    );
    const client = DynamoDBDocumentClient.from(engine.client, {
      marshallOptions: { removeUndefinedValues: true },
    });
    const meter = new Meter();
    meter.watch(client);
    const clock = Date.now;
    const store = createStore({
      client,
      tableName: name,
      indexName: PRESSURE_INDEX,
      clock,
      newId: (after) => newId(clock(), after),
    });
    const rows: Row[] = [];
    for (const length of wanted.length > 0 ? wanted : LENGTHS)
      rows.push(...(await costs(store, meter, length)));
    await mkdir(dirname(OUT), { recursive: true });
    await writeFile(OUT, `${JSON.stringify({ access_costs: rows }, undefined, 1)}\n`);
    console.log(args.includes('--json') ? JSON.stringify({ access_costs: rows }, undefined, 1) : table(rows));
  } finally {
    engine.stop();
  }
}

await main(process.argv.slice(2));
