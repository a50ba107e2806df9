import assert from 'node:assert/strict';
import { before, beforeEach, describe, it } from 'node:test';
import { type ScanReport, scan } from '../../lib/compaction/scan.ts';
import type { CompactionMessage } from '../../lib/ports.ts';
import { newId } from '../../lib/treepath/ids.ts';
import { type Engine, startEngine, startStore, type TestStore } from '../support/dynamo.ts';

const OWNER = 'ann';
const MINUTE = 60_000;
let engine: Engine;
let store: TestStore;
let lines: string[];
let sent: CompactionMessage[];
let refuse: (message: CompactionMessage) => boolean;

before(async () => {
  engine = await startEngine();
});

beforeEach(async () => {
  store = await startStore(engine);
  lines = [];
  sent = [];
  refuse = () => false;
  await set('auto_compaction_enabled', true);
});

const audit = () => ({
  id: newId(store.now),
  at: store.now,
  actor: 'admin',
  action: 'x',
  resource: 'y',
  details: {},
});
const set = (key: string, value: unknown) => store.writeGlobal(key, value, audit());

function run(): Promise<ScanReport> {
  const log = (message: string) => void lines.push(message);
  const queue = {
    send: async (messages: readonly CompactionMessage[]) => {
      sent.push(...messages.filter((message) => !refuse(message)));
      return messages.filter(refuse);
    },
  };
  return scan({
    store,
    queue,
    clock: () => store.now,
    newId: () => newId(store.now),
    logger: { debug: log, info: log, warn: log, error: log },
  });
}

async function ran(): Promise<Extract<ScanReport, { ran: true }>> {
  const report = await run();
  assert.ok(report.ran, JSON.stringify(report));
  return report;
}

/** A conversation that is `chars` long in 12 messages, an hour old unless told otherwise. */
async function conversation(
  chars: number,
  more: { model?: string; activeAt?: number; settings?: object; messages?: number } = {},
): Promise<string> {
  const count = more.messages ?? 12;
  const messages = Array.from({ length: count }, (_, index) => ({
    ref: `${index}`,
    parentRef: index === 0 ? null : `${index - 1}`,
    role: index % 2 === 0 ? ('user' as const) : ('assistant' as const),
    content: 'x'.repeat(Math.ceil(chars / count)),
  }));
  const { id } = await store.importChannel(
    {
      ownerId: OWNER,
      title: 't',
      type: 'direct',
      settings: more.settings ?? {},
      model: more.model ?? 'small',
      activeAt: more.activeAt ?? store.now - 60 * MINUTE,
    },
    messages,
    null,
  );
  return id;
}

const small = (tokens = 8_000) => store.writeCatalog('small', tokens, audit());

describe('scan', () => {
  it('A28: does nothing while the kill switch is off', async () => {
    await small();
    await conversation(30_000);
    await set('auto_compaction_enabled', false);
    assert.deepEqual(await run(), { ran: false, why: 'disabled' });
    assert.deepEqual(sent, []);
  });

  it('A17: runs once per interval, whatever the number of ticks', async () => {
    assert.equal((await run()).ran, true);
    const ticks = await Promise.all([run(), run()]);
    assert.deepEqual(ticks, [
      { ran: false, why: 'not_due' },
      { ran: false, why: 'not_due' },
    ]);
    store.now += 5 * MINUTE;
    const due = await Promise.all([run(), run()]);
    assert.deepEqual(due.map((report) => report.ran).sort(), [false, true]);
    await set('auto_compaction_interval_minutes', 1);
    store.now += MINUTE;
    assert.equal((await run()).ran, true, 'a new interval holds without a deployment');
  });

  it('claims what is at or over its threshold, most pressed first, with the lines of A32', async () => {
    await small();
    const over = await conversation(24_000);
    const most = await conversation(40_000);
    await conversation(21_000);
    const report = await ran();
    assert.deepEqual([report.candidates, report.claimed, report.sent], [2, 2, 2]);
    assert.deepEqual(
      sent.map(({ channel_id, user_id, trigger }) => [channel_id, user_id, trigger]),
      [
        [most, OWNER, 'auto'],
        [over, OWNER, 'auto'],
      ],
    );
    assert.ok(lines.includes('🔍 compaction: scanning 2 candidates'), lines.join('\n'));
    assert.ok(
      lines.some((line) =>
        line.startsWith(
          `🔍 compaction: channel ${over} qualifies (76% of 8K context, 12 messages post-summary)`,
        ),
      ),
      lines.join('\n'),
    );
  });

  it('A14: a changed window or threshold holds at the next scan, nothing is reindexed', async () => {
    await conversation(24_000);
    assert.equal((await ran()).candidates, 0, '128 000 by default');
    await small();
    store.now += 6 * MINUTE;
    assert.equal((await ran()).claimed, 1);
    await conversation(21_000);
    await set('auto_compaction_threshold', 0.6);
    store.now += 6 * MINUTE;
    assert.equal((await ran()).claimed, 1);
  });

  it("A20: a channel's own threshold counts for it alone", async () => {
    await small(20_000);
    const own = await conversation(24_000, { settings: { compaction_threshold: 0.25 } });
    await conversation(24_000);
    await conversation(60_000, { settings: { compaction_threshold: 0.95 } });
    await ran();
    assert.deepEqual(
      sent.map(({ channel_id }) => channel_id),
      [own],
    );
  });

  it('A18: leaves alone what is fresh, stale, short, archived, opted out or deleted', async () => {
    await small();
    await conversation(30_000, { activeAt: store.now - MINUTE });
    await conversation(30_000, { activeAt: store.now - 8 * 24 * 60 * MINUTE });
    await conversation(30_000, { messages: 9 });
    await conversation(30_000, { settings: { auto_compaction: false } });
    await store.updateChannel(await conversation(30_000), { archived: true });
    await store.updateChannel(await conversation(30_000), { settings: { auto_compaction: false } });
    await store.deleteChannel(await conversation(30_000));
    const report = await ran();
    assert.deepEqual([report.claimed, report.skipped], [0, { too_fresh: 1, stale: 1 }]);
  });

  it('a queued, running, cooling or failing channel is skipped with its reason', async () => {
    await small();
    const ids = [await conversation(30_000), await conversation(30_000), await conversation(30_000)] as const;
    assert.equal((await ran()).claimed, 3);
    for (const id of ids) await store.releaseClaim(id);
    const claims = { tokens: 10_000, now: store.now, claimMs: 15 * MINUTE, cooldownMs: 0 };
    await store.claim(ids[0], claims);
    await store.acquireLease(ids[1], 'worker', { now: store.now, leaseMs: 10 * MINUTE });
    const lease = await store.acquireLease(ids[2], 'worker', { now: store.now, leaseMs: MINUTE });
    if (lease)
      await store.endLease(lease, { kind: 'failed', failures: 1, retryAfter: store.now + 60 * MINUTE }, []);
    store.now += 5 * MINUTE;
    const report = await ran();
    assert.deepEqual([report.claimed, report.skipped], [0, { queued: 1, in_flight: 1, backing_off: 1 }]);
    assert.ok(
      lines.some((line) => /^⏭ compaction: channel \S+ skipped \(backing off, 55m remaining\)$/.test(line)),
      lines.join('\n'),
    );
  });

  it('gives a claim back when its message could not be sent', async () => {
    await small();
    const id = await conversation(30_000);
    refuse = () => true;
    assert.deepEqual(
      [(await ran()).sent, (await store.getChannel(id)).compaction.claimedUntil],
      [0, undefined],
    );
    refuse = () => false;
    store.now += 5 * MINUTE;
    assert.equal((await ran()).sent, 1);
  });

  it('A18: claims 50 a scan, reports the backlog, and comes to all of them', async () => {
    await small();
    const all: string[] = [];
    for (let n = 0; n < 60; n += 1) all.push(await conversation(30_000 + n * 100));
    const first = await ran();
    assert.deepEqual([first.candidates, first.claimed, first.backlog], [60, 50, 10]);
    assert.deepEqual(
      sent.map(({ channel_id }) => channel_id),
      all.toReversed().slice(0, 50),
    );
    store.now += 5 * MINUTE;
    const second = await ran();
    assert.deepEqual([second.claimed, second.skipped.queued], [10, 50]);
    assert.deepEqual(new Set(sent.map(({ channel_id }) => channel_id)), new Set(all));
  });
});
