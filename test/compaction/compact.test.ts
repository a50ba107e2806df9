import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { createCompact } from '../../lib/compaction/compact.ts';
import type { CompactRequest } from '../../lib/compaction/outcome.ts';
import { SummarizerError } from '../../lib/errors.ts';
import type { CompactionResultEvent } from '../../lib/ports.ts';
import { createUtilityRole } from '../../lib/summarizers/roles.ts';
import type { Summarizer, SummaryRequest } from '../../lib/summarizers/summarizer.ts';
import { newId } from '../../lib/treepath/ids.ts';
import { type Engine, startEngine, startStore, type TestStore } from '../support/dynamo.ts';

const OWNER = 'ann';
let engine: Engine;
before(async () => {
  engine = await startEngine();
});

type Scripted = (request: SummaryRequest, call: number) => Promise<string> | string;

/** The model is the only thing that is not real here. */
function scripted(script: Scripted): Summarizer & { calls: SummaryRequest[] } {
  const calls: SummaryRequest[] = [];
  return {
    calls,
    model: 'scripted',
    promptVersion: 'test-1',
    window: Number.POSITIVE_INFINITY,
    async summarize(request) {
      calls.push(request);
      const text = await script(request, calls.length);
      return { text, model: 'scripted', inputTokens: 100, outputTokens: 10, stop: 'complete' };
    },
  };
}

async function setUp(script: Scripted = () => 'a short summary') {
  const store = await startStore(engine);
  const model = scripted(script);
  const events: CompactionResultEvent[] = [];
  const lines: string[] = [];
  const log = (message: string) => void lines.push(message);
  const compact = createCompact({
    store,
    utility: createUtilityRole([model]),
    events: { publishResult: async (event) => void events.push(event) },
    clock: () => store.now,
    newId: () => newId(store.now),
    logger: { debug: log, info: log, warn: log, error: log },
  });
  const { id } = await store.createChannel({
    ownerId: OWNER,
    title: 't',
    type: 'direct',
    settings: {},
    model: 'small',
  });
  const audit = {
    id: newId(store.now),
    at: store.now,
    actor: 'admin',
    action: 'x',
    resource: 'y',
    details: {},
  };
  await store.writeCatalog('small', 8_000, audit);
  await store.writeGlobal('auto_compaction_enabled', true, audit);
  const run = (request: Partial<CompactRequest> = {}) =>
    compact({ channelId: id, userId: OWNER, trigger: 'manual', ...request });
  return { store, id, model, events, lines, run };
}

const append = (store: TestStore, channelId: string, content: string, role: 'user' | 'assistant') =>
  store.append({ channelId, userId: OWNER, role, content });

async function talk(store: TestStore, id: string, turns: number, chars = 2_000): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) {
    await append(store, id, `question ${turn} `.padEnd(chars, 'q'), 'user');
    await append(store, id, `answer ${turn} `.padEnd(chars, 'a'), 'assistant');
  }
}

const today = (store: TestStore): string => new Date(store.now).toISOString().slice(0, 10);

describe('compact', () => {
  it('A6: inserts a summary that covers the older turns, moves the cursor, records usage and audit, publishes', async () => {
    const { store, id, run, events, lines } = await setUp();
    await talk(store, id, 6);
    const before = await store.readContext(id, OWNER);
    const outcome = await run({ trigger: 'auto', correlationId: 'corr' });
    assert.equal(outcome.status, 'done', JSON.stringify(outcome));
    const { cursor, summary, messages } = await store.readContext(id, OWNER);
    assert.equal(summary?.content, 'a short summary');
    assert.equal(cursor.leafId, summary?.id);
    const { metadata } = summary ?? {};
    assert.deepEqual(
      [
        metadata?.trigger,
        metadata?.strategy,
        metadata?.coversFrom,
        metadata?.summarizedCount,
        metadata?.model,
      ],
      ['auto', 'summary', before.messages[0]?.id, 12 - messages.length, 'scripted'],
    );
    assert.deepEqual(messages, before.messages.slice(12 - messages.length), 'the kept tail stays verbatim');
    assert.deepEqual(metadata?.coversUntil, before.messages[12 - messages.length - 1]?.id);
    assert.equal(metadata?.tokensBefore, before.cursor.sums.tokens);
    assert.equal(metadata?.tokensAfter, cursor.sums.tokens);
    const usage = await store.listUsage(today(store));
    assert.deepEqual(
      usage.map(({ channelId, role, inputTokens, metadata: m }) => [
        channelId,
        role,
        inputTokens,
        m.trigger,
        m.outcome,
      ]),
      [[id, 'utility', 100, 'auto', 'ok']],
    );
    const audit = (await store.listAudit(today(store).slice(0, 7))).find(
      ({ action }) => action === 'compaction.auto',
    );
    assert.deepEqual([audit?.actor, audit?.resource], ['system:compaction', `channel:${id}`]);
    assert.deepEqual(
      events.map((event) => [event.session_id, event.correlation_id, 'summary' in event && event.summary]),
      [[id, 'corr', 'a short summary']],
    );
    assert.ok(
      lines.some((line) => line.startsWith(`✅ compaction: channel ${id} done (`)),
      lines.join('\n'),
    );
  });

  it('no message falls between two summaries: the kept tail of the first is covered by the second', async () => {
    const { store, id, run, model } = await setUp();
    await talk(store, id, 6);
    await run();
    const kept = (await store.readContext(id, OWNER)).messages;
    assert.ok(kept.length > 0);
    await talk(store, id, 6);
    await run();
    assert.equal(model.calls[1]?.previousSummary, 'a short summary');
    assert.deepEqual(model.calls[1]?.messages.slice(0, kept.length), kept);
    const { summary, messages } = await store.readContext(id, OWNER);
    const all = (await store.readPath(id, OWNER, { limit: 100 })).messages.filter(
      (m) => m.metadata.type !== 'summary',
    );
    const seen = [...(model.calls[0]?.messages ?? []), ...(model.calls[1]?.messages ?? []), ...messages].map(
      (m) => m.id,
    );
    assert.deepEqual([...new Set(seen)].sort(), all.map((m) => m.id).sort());
    assert.ok(summary?.metadata.previousSummaryId);
  });

  it('messages that arrive while the model works stay in the next context', async () => {
    let arrive: () => Promise<unknown> = async () => undefined;
    const { store, id, run } = await setUp(async () => {
      await arrive();
      return 'short';
    });
    await talk(store, id, 6);
    arrive = async () => {
      await append(store, id, 'late question', 'user');
      await append(store, id, 'late answer', 'assistant');
    };
    assert.equal((await run()).status, 'done');
    const { cursor, summary, messages } = await store.readContext(id, OWNER);
    assert.equal(cursor.leafId, summary?.id);
    assert.deepEqual(
      messages.slice(-2).map(({ content }) => content),
      ['late question', 'late answer'],
    );
  });

  it('a cursor that went to another branch makes the result stale: nothing changes, usage is recorded', async () => {
    let leave: () => Promise<unknown> = async () => undefined;
    const { store, id, run } = await setUp(async () => {
      await leave();
      return 'short';
    });
    await talk(store, id, 6);
    const first = (await store.readPath(id, OWNER, { limit: 100 })).messages[0];
    leave = () =>
      store.append({
        channelId: id,
        userId: OWNER,
        role: 'user',
        content: 'edited',
        parentId: first?.id ?? '',
        branch: true,
      });
    assert.deepEqual(await run(), { status: 'stale' });
    assert.equal((await store.readContext(id, OWNER)).summary, undefined);
    assert.equal((await store.listUsage(today(store))).length, 1);
    assert.equal((await store.getChannel(id)).compaction.lease, undefined);
  });

  it('one compaction at a time; a lease that ran out is taken over and its holder cannot commit', async () => {
    let hold: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      hold = resolve;
    });
    let working: () => void = () => undefined;
    const atWork = new Promise<void>((resolve) => {
      working = resolve;
    });
    const { store, id, run } = await setUp(async (_request, call) => {
      if (call === 1) {
        working();
        await held;
      }
      return `summary ${call}`;
    });
    await talk(store, id, 6);
    const slow = run();
    await atWork;
    assert.deepEqual(await run(), { status: 'busy' });
    store.now += 10 * 60_000;
    assert.equal((await run()).status, 'done');
    hold();
    assert.deepEqual(await slow, { status: 'stale' });
    const { summary } = await store.readContext(id, OWNER);
    assert.equal(summary?.content, 'summary 2');
    assert.equal((await store.listUsage(today(store))).length, 2);
  });

  it('a redelivered message takes over the lease of its crashed delivery at once, another message does not', async () => {
    const { store, id, run } = await setUp();
    await talk(store, id, 6);
    await store.acquireLease(id, 'corr', { now: store.now, leaseMs: 60_000 });
    assert.deepEqual(await run({ correlationId: 'other', redelivered: true }), { status: 'busy' });
    assert.deepEqual(await run({ correlationId: 'corr' }), { status: 'busy' });
    assert.equal((await run({ correlationId: 'corr', redelivered: true })).status, 'done');
  });

  for (const [name, script] of [
    ['a blank answer', () => '  '],
    [
      'an answer as large as its source',
      (request: SummaryRequest) => 'x'.repeat(request.messages.length * 4_000),
    ],
    ['an error', () => Promise.reject(new SummarizerError('model_rejected', 'rejected'))],
  ] as const) {
    it(`${name} changes nothing but the back-off and the usage`, async () => {
      const { store, id, run, events } = await setUp(script);
      await talk(store, id, 6);
      const before = await store.readContext(id, OWNER);
      await assert.rejects(run({ trigger: 'auto' }), SummarizerError);
      assert.deepEqual(await store.readContext(id, OWNER), before);
      const { compaction } = await store.getChannel(id);
      assert.equal(compaction.lease, undefined);
      assert.ok(
        (compaction.retryAfter ?? 0) > store.now || compaction.noProgressAt === before.cursor.sums.tokens,
      );
      assert.equal((await store.listUsage(today(store))).length, 1);
      assert.ok(events[0] && 'error' in events[0], 'a failure publishes a result, too');
      const again = await run({ trigger: 'auto' });
      assert.equal(again.status, 'skipped', 'the failure does not loop');
    });
  }

  it('a failure that may heal leaves no back-off until the last delivery', async () => {
    const { store, id, run } = await setUp(() =>
      Promise.reject(new SummarizerError('overloaded', 'busy', { retryable: true })),
    );
    await talk(store, id, 6);
    await assert.rejects(run({ trigger: 'auto' }), { retryable: true });
    assert.equal((await store.getChannel(id)).compaction.retryAfter, undefined);
    await assert.rejects(run({ trigger: 'auto', lastAttempt: true }), { retryable: true });
    assert.ok((await store.getChannel(id)).compaction.retryAfter);
  });

  it('A29: a cooldown holds automatic compaction back, not a person', async () => {
    const { store, id, run } = await setUp();
    await talk(store, id, 6);
    assert.equal((await run({ trigger: 'auto' })).status, 'done');
    await talk(store, id, 8);
    const refused = await run({ trigger: 'auto' });
    assert.deepEqual(refused, { status: 'skipped', reason: 'cooldown', remainingMs: 30 * 60_000 });
    assert.equal((await run()).status, 'done');
  });

  it('A22: over the rate limit automatic compaction skips, a person is told when to come back', async () => {
    const { store, id, run } = await setUp();
    await talk(store, id, 6);
    const audit = {
      id: newId(store.now),
      at: store.now,
      actor: 'admin',
      action: 'x',
      resource: 'y',
      details: {},
    };
    await store.writeGlobal('utility_rate_limit', 1, audit);
    await store.take('auto', 1, store.now);
    assert.deepEqual(await run({ trigger: 'auto' }), { status: 'skipped', reason: 'rate_limit' });
    await assert.rejects(run(), { code: 'rate_limited', details: { retryAfterSeconds: 3_600 } });
  });

  it('undo goes back to the full context, redo to the summary; a late reply goes below the summary only while it stands', async () => {
    const { store, id, run } = await setUp();
    await talk(store, id, 6);
    const before = await store.readContext(id, OWNER);
    await run();
    const after = await store.readContext(id, OWNER);
    await store.undoSummary(id, OWNER);
    assert.deepEqual((await store.readContext(id, OWNER)).messages, before.messages);
    await store.redoSummary(id, OWNER);
    assert.deepEqual((await store.readContext(id, OWNER)).summary, after.summary);

    const leafBefore = before.cursor.leafId ?? '';
    const late = await store.append({
      channelId: id,
      userId: OWNER,
      role: 'user',
      content: 'late',
      parentId: leafBefore,
    });
    assert.deepEqual([late.message.parentId, late.redirectedFrom], [after.summary?.id, leafBefore]);
    const branch = await store.append({
      channelId: id,
      userId: OWNER,
      role: 'user',
      content: 'b',
      parentId: leafBefore,
      branch: true,
    });
    assert.equal(branch.message.parentId, leafBefore);
    await store.switchCursor(id, OWNER, late.message.id);
    await store.undoSummary(id, OWNER);
    const own = await store.append({
      channelId: id,
      userId: OWNER,
      role: 'user',
      content: 'own',
      parentId: leafBefore,
    });
    assert.equal(own.message.parentId, leafBefore);
  });

  it('leading system messages stay in the context and are never summarized', async () => {
    const { store, id, run, model } = await setUp();
    await store.append({ channelId: id, userId: OWNER, role: 'system', content: 'Be kind.' });
    await talk(store, id, 6);
    await run();
    const { pinned, cursor } = await store.readContext(id, OWNER);
    assert.deepEqual(
      pinned.map(({ content }) => content),
      ['Be kind.'],
    );
    assert.ok(model.calls[0]?.messages.every(({ role }) => role !== 'system'));
    const context = await store.readContext(id, OWNER);
    const weight = [...context.pinned, ...context.messages].reduce(
      (sum, m) => sum + m.tokens,
      context.summary?.tokens ?? 0,
    );
    assert.equal(cursor.sums.tokens, weight);
  });
});
