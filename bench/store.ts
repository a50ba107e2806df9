import { mkdir, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type Engine, startEngine, startStore, type TestStore } from '../test/support/dynamo.ts';
import { type Count, countRequests } from './counting-client.ts';

/**
 * What the table costs, in counted operations: requests and the capacity units that the engine reports. Conversations
 * differ in the length of the history before the boundary; what stands after it is the same in all of them.
 */
const SIZES = [100, 1_000, 10_000, 100_000];
const OWNER = 'bench';
const OUT = resolve(import.meta.dirname, 'results/store.json');

type Row = { messages: number } & Record<'append' | 'context' | 'pressure', Count>;

async function conversation(store: TestStore, messages: number): Promise<string> {
  const imported = Array.from({ length: messages }, (_, index) => ({
    ref: `${index}`,
    parentRef: index === 0 ? null : `${index - 1}`,
    role: index % 2 === 0 ? ('user' as const) : ('assistant' as const),
    content: `message ${index} `.padEnd(400, '.'),
  }));
  const { id } = await store.importChannel(
    { ownerId: OWNER, title: `${messages}`, type: 'direct', settings: {} },
    imported,
    null,
  );
  return id;
}

/** Puts a summary over all but the newest 20 messages, as a compaction does. */
async function compact(store: TestStore, channelId: string): Promise<void> {
  const { cursor, messages, pinned } = await store.readContext(channelId, OWNER);
  const lease = await store.acquireLease(channelId, 'bench', { now: store.now, leaseMs: 60_000 });
  const [first] = messages;
  const last = messages.at(-21);
  if (!lease || !first || !last || cursor.leafId === null) throw new Error('nothing to compact');
  await store.apply({
    lease,
    userId: OWNER,
    plannedLeafId: cursor.leafId,
    pinned,
    draft: {
      content: 'summary',
      tokens: 6,
      chars: 7,
      metadata: {
        type: 'summary',
        trigger: 'manual',
        strategy: 'summary',
        coversFrom: first.id,
        coversUntil: last.id,
        summarizedCount: messages.length - 20,
        tokensBefore: cursor.sums.tokens,
        model: 'bench',
        usedFallback: false,
        profile: 'channel',
        promptVersion: 'bench',
      },
    },
    usage: [],
    audit: { id: 'bench', at: store.now, actor: 'bench', action: 'bench', resource: 'bench', details: {} },
    now: store.now,
  });
}

async function counted(count: Count, work: () => Promise<unknown>): Promise<Count> {
  const before = { ...count };
  await work();
  return { requests: count.requests - before.requests, units: count.units - before.units };
}

async function measure(store: TestStore, count: Count, messages: number): Promise<Row> {
  const channelId = await conversation(store, messages);
  await compact(store, channelId);
  const append = await counted(count, () =>
    store.append({ channelId, userId: OWNER, role: 'user', content: 'x'.repeat(400) }),
  );
  const context = await counted(count, () => store.readContext(channelId, OWNER));
  const pressure = await counted(count, () => store.getCursor(channelId, OWNER));
  return { messages, append, context, pressure };
}

function print(rows: readonly Row[]): void {
  const cell = ({ requests, units }: Count): string => `${requests} / ${units}`.padStart(12);
  process.stdout.write('requests / capacity units\n');
  process.stdout.write(
    `${'history'.padStart(10)}${'append'.padStart(12)}${'context'.padStart(12)}${'pressure'.padStart(12)}\n`,
  );
  for (const { messages, append, context, pressure } of rows) {
    process.stdout.write(
      `${String(messages).padStart(10)}${cell(append)}${cell(context)}${cell(pressure)}\n`,
    );
  }
}

const engine: Engine = await startEngine();
try {
  const count = countRequests(engine.client);
  const store = await startStore(engine);
  const rows: Row[] = [];
  for (const size of SIZES) {
    process.stderr.write(`building a conversation of ${size} messages\n`);
    rows.push(await measure(store, count, size));
  }
  print(rows);
  await mkdir(resolve(OUT, '..'), { recursive: true });
  await writeFile(OUT, `${JSON.stringify(rows, null, 2)}\n`);
} finally {
  engine.stop();
}
// The engine's helper belongs to the test runner, which would print an empty summary below the table.
process.exit();
