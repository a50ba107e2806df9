import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { TestStore } from '../../support/dynamo.ts';
import { audit, compacted, create, OWNER, say, talk } from './fixture.ts';

const CLAIM = { tokens: 1_000, claimMs: 900_000, cooldownMs: 1_800_000 };

/** The pressure index, claims, counters, settings, ledgers and jobs, on any engine. */
export function tablesContract(get: () => TestStore): void {
  const find = (store: TestStore, modelKey: string, half: 'default' | 'overridden', minTokens = 0) =>
    store.findPressed({ modelKey, half, minTokens, limit: 10 });

  it('the index holds a pressed channel, follows its settings, and lets it go', async () => {
    const store = get();
    const model = 'index-model';
    const { id } = await talk(store, 12, 2_000, model);
    const [found] = await find(store, model, 'default');
    const { sums } = await store.getCursor(id, OWNER);
    assert.deepEqual([found?.channelId, found?.tokens, found?.messages], [id, sums.tokens, 12]);
    assert.ok((await store.listModelKeys()).includes(model));
    assert.equal((await find(store, model, 'default', sums.tokens)).length, 1, 'the bound is inclusive');
    assert.equal((await find(store, model, 'default', sums.tokens + 1)).length, 0);

    await store.updateChannel(id, { settings: { compaction_threshold: 0.5 } });
    assert.equal((await find(store, model, 'default')).length, 0);
    assert.equal((await find(store, model, 'overridden', sums.tokens / 0.5))[0]?.threshold, 0.5);
    await store.updateChannel(id, { settings: { compaction_threshold: null }, model: 'index-model-2' });
    assert.equal((await find(store, 'index-model-2', 'default')).length, 1);
    const gone = [
      [{ archived: true }, { archived: false }],
      [{ settings: { auto_compaction: false } }, { settings: { auto_compaction: null } }],
    ];
    for (const [away, back] of gone) {
      await store.updateChannel(id, away ?? {});
      assert.equal((await find(store, 'index-model-2', 'default')).length, 0);
      await store.updateChannel(id, back ?? {});
      assert.equal((await find(store, 'index-model-2', 'default')).length, 1);
    }
    await compacted(store, id, 8);
    assert.equal((await find(store, 'index-model-2', 'default')).length, 0);
    await store.undoSummary(id, OWNER);
    assert.equal((await find(store, 'index-model-2', 'default')).length, 1);
    await store.deleteChannel(id);
    assert.equal((await find(store, 'index-model-2', 'default')).length, 0);
  });

  it('group channels, short ones and small ones are not in the index', async () => {
    const store = get();
    const model = 'quiet-model';
    await talk(store, 9, 4_000, model);
    await talk(store, 12, 1_600, model);
    const group = await store.createChannel({
      ownerId: OWNER,
      title: 'g',
      type: 'group',
      settings: {},
      model,
    });
    for (let n = 0; n < 11; n += 1) await say(store, group.id, `q${n}`.padEnd(3_000, 'x'));
    assert.deepEqual(await find(store, model, 'default'), []);
  });

  it('most pressed first, over all shards', async () => {
    const store = get();
    const model = 'order-model';
    for (const chars of [2_500, 4_000, 2_000, 3_000, 3_500]) await talk(store, 12, chars, model);
    const all = await find(store, model, 'default');
    assert.deepEqual(
      all.map(({ tokens }) => tokens),
      all.map(({ tokens }) => tokens).sort((a, b) => b - a),
    );
    assert.equal(all.length, 5);
    const top = await store.findPressed({ modelKey: model, half: 'default', minTokens: 0, limit: 2 });
    assert.deepEqual(top, all.slice(0, 2));
  });

  it('a claim is refused with its reason', async () => {
    const store = get();
    const { id } = await talk(store, 12, 2_000);
    const claim = async () => {
      const result = await store.claim(id, { ...CLAIM, now: store.now });
      return result.claimed ? 'claimed' : result.reason;
    };
    const outcomes = await Promise.all([claim(), claim(), claim()]);
    assert.deepEqual(outcomes.sort(), ['claimed', 'queued', 'queued']);
    await store.releaseClaim(id);
    assert.equal(await claim(), 'claimed');
    store.now += CLAIM.claimMs;
    assert.equal(await claim(), 'claimed', 'a claim ends by itself');
    await compacted(store, id, 2);
    const cooling = await store.claim(id, { ...CLAIM, now: store.now + 1_000 });
    assert.deepEqual(cooling, { claimed: false, reason: 'cooldown', remainingMs: CLAIM.cooldownMs - 1_000 });
    store.now += CLAIM.cooldownMs;
    const lease = await store.acquireLease(id, 'x', { now: store.now, leaseMs: 1_000 });
    assert.equal(await claim(), 'in_flight');
    assert.ok(lease);
    await store.endLease(lease, { kind: 'failed', failures: 1, retryAfter: store.now + 500 }, []);
    assert.equal(await claim(), 'backing_off');
    store.now += 500;
    await store.updateChannel(id, { settings: { auto_compaction: false } });
    assert.equal(await claim(), 'opted_out');
    await store.updateChannel(id, { settings: { auto_compaction: true }, archived: true });
    assert.equal(await claim(), 'archived');
    await store.deleteChannel(id);
    assert.equal(await claim(), 'deleted');
  });

  it('counts calls by the hour, to the last one under concurrency', async () => {
    const store = get();
    store.now += 7 * 3_600_000;
    const takes = await Promise.all(Array.from({ length: 6 }, () => store.take('auto', 4, store.now)));
    assert.equal(takes.filter(({ allowed }) => allowed).length, 4);
    assert.equal((await store.take('manual', 4, store.now)).allowed, false, 'both kinds share the budget');
    assert.equal((await store.take('manual', 0, store.now)).allowed, true, '0 is unlimited');
    const { retryAfterSeconds } = await store.take('auto', 4, store.now);
    assert.equal(retryAfterSeconds, Math.ceil(3_600 - ((store.now / 1_000) % 3_600)));
    store.now += 3_600_000;
    assert.equal((await store.take('auto', 4, store.now)).allowed, true);
  });

  it('starts one scan an interval', async () => {
    const store = get();
    const start = () => store.startScan(store.now, 300_000);
    assert.deepEqual((await Promise.all([start(), start(), start()])).sort(), [false, false, true]);
    store.now += 299_999;
    assert.equal(await start(), false);
    store.now += 1;
    assert.equal(await start(), true);
  });

  it('keeps settings, windows, and who changed them', async () => {
    const store = get();
    await store.writeGlobal('auto_compaction_threshold', 0.6, audit(store, 'set-1'));
    await store.writeGlobal('auto_compaction_enabled', true, audit(store, 'set-2'));
    assert.deepEqual(await store.readGlobal(), {
      auto_compaction_threshold: 0.6,
      auto_compaction_enabled: true,
    });
    await store.writeCatalog('config:home', 8_192, audit(store, 'set-3'));
    assert.deepEqual(await store.readCatalog(), { 'config:home': 8_192 });
    const ids = (await store.listAudit(new Date(store.now).toISOString().slice(0, 7))).map(({ id }) => id);
    assert.deepEqual(
      ids.filter((id) => id.startsWith('set-')),
      ['set-1', 'set-2', 'set-3'],
    );
    assert.deepEqual(await store.listUsage('1999-01-01'), []);
  });

  it('keeps jobs for those who poll', async () => {
    const store = get();
    const { id: channelId } = await create(store);
    const job = { id: 'j', channelId, status: 'queued' as const, createdAt: '2026-01-01T00:00:00.000Z' };
    await store.putJob(job);
    await store.putJob({ ...job, status: 'done', result: { summary_id: 's' } });
    assert.deepEqual(await store.getJob(channelId, 'j'), {
      ...job,
      status: 'done',
      result: { summary_id: 's' },
    });
    await assert.rejects(store.getJob(channelId, 'k'), { code: 'compaction_not_found' });
  });
}
