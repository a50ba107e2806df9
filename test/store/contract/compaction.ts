import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { TestStore } from '../../support/dynamo.ts';
import { compacted, OWNER, planned, say, talk, usage } from './fixture.ts';

const day = (store: TestStore): string => new Date(store.now).toISOString().slice(0, 10);

/** Leases, fencing, and the one transaction of a compaction, on any engine. */
export function compactionContract(get: () => TestStore): void {
  it('one lease at a time; an expired one is taken over and its holder can no longer commit', async () => {
    const store = get();
    const { id } = await talk(store, 6);
    const first = await planned(store, id, 4, { owner: 'slow' });
    assert.equal(await store.acquireLease(id, 'other', { now: store.now, leaseMs: 1_000 }), undefined);
    store.now += 181_000;
    const second = await planned(store, id, 4, { owner: 'quick' });
    assert.equal(second.lease.fence, first.lease.fence + 1);
    assert.deepEqual(await store.apply(first), { outcome: 'lease_lost' });
    assert.equal((await store.apply(second)).outcome, 'applied');
    assert.deepEqual(await store.apply(second), { outcome: 'lease_lost' });
    const used = (await store.listUsage(day(store))).filter(({ channelId }) => channelId === id);
    assert.equal(used.length, 2, 'each call is recorded, once');
  });

  it('writes summary, cursor, state, usage and audit together', async () => {
    const store = get();
    const { id } = await talk(store, 6);
    const summary = await compacted(store, id, 4);
    const { compaction } = await store.getChannel(id);
    assert.deepEqual(compaction, { fence: 1, lastAutoAt: store.now });
    assert.equal((await store.getCursor(id, OWNER)).leafId, summary.id);
    assert.equal(
      (await store.listAudit(day(store).slice(0, 7))).filter((entry) => entry.id.includes(id)).length,
      1,
    );
  });

  it('messages that came meanwhile stay in the context; another branch makes the result stale', async () => {
    const store = get();
    const { id } = await talk(store, 6);
    const request = await planned(store, id, 4);
    const { message } = await say(store, id, 'meanwhile');
    const applied = await store.apply(request);
    assert.equal(applied.outcome === 'applied' && applied.summary.parentId, message.id);
    assert.equal((await store.readContext(id, OWNER)).messages.length, 3);

    const again = await planned(store, id, 1);
    await say(store, id, 'elsewhere', { parentId: null });
    assert.deepEqual(await store.apply(again), { outcome: 'stale' });
    assert.equal((await store.getChannel(id)).compaction.lease, undefined);
    const used = (await store.listUsage(day(store))).filter(({ channelId }) => channelId === id);
    assert.equal(used.length, 2);
  });

  it('is stale when the channel was archived, opted out or deleted meanwhile; opting out does not stop a person', async () => {
    const store = get();
    const changes = [{ archived: true }, { settings: { auto_compaction: false } }];
    for (const change of changes) {
      const { id } = await talk(store, 6);
      const request = await planned(store, id, 4);
      await store.updateChannel(id, change);
      assert.deepEqual(await store.apply(request), { outcome: 'stale' });
    }
    const { id } = await talk(store, 6);
    await store.updateChannel(id, { settings: { auto_compaction: false } });
    assert.equal((await store.apply(await planned(store, id, 4, { trigger: 'manual' }))).outcome, 'applied');
    assert.equal((await store.getChannel(id)).compaction.lastAutoAt, undefined);
    const request = await planned(store, id, 1);
    await store.deleteChannel(id);
    assert.deepEqual(await store.apply(request), { outcome: 'stale' });
  });

  it('the end of a lease says why, and hundreds of calls are all recorded', async () => {
    const store = get();
    const { id } = await talk(store, 6);
    const { lease } = await planned(store, id, 4);
    const calls = Array.from({ length: 230 }, (_, n) => usage(store, `many-${id}-${n}`, id));
    await store.endLease(lease, { kind: 'failed', failures: 2, retryAfter: store.now + 5_000 }, calls);
    const { compaction } = await store.getChannel(id);
    assert.deepEqual(compaction, { fence: 1, failures: 2, retryAfter: store.now + 5_000 });
    const used = (await store.listUsage(day(store))).filter(({ channelId }) => channelId === id);
    assert.equal(used.length, 230);
    const next = await planned(store, id, 4);
    await store.endLease(next.lease, { kind: 'no_progress', atTokens: 99 }, []);
    assert.equal((await store.getChannel(id)).compaction.noProgressAt, 99);
    await store.endLease(lease, { kind: 'released' }, []);
  });
}
