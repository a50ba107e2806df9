import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { planCompaction } from '../../lib/compaction/plan.ts';
import { CHANNEL_PROFILE } from '../../lib/settings/profiles.ts';
import { blocksOf } from '../../lib/treepath/content.ts';
import type { Message } from '../../lib/treepath/message.ts';
import { call, contextOf, type Line, pathOf, result, turnsOf } from '../support/conversation.ts';

const plan = (
  messages: readonly Message[],
  options: { trigger?: 'auto' | 'manual'; budget?: number; until?: string } = {},
) =>
  planCompaction({
    context: contextOf(messages),
    profile: CHANNEL_PROFILE,
    budgetTokens: options.budget ?? 128_000,
    trigger: options.trigger ?? 'manual',
    ...(options.until === undefined ? {} : { until: options.until }),
  });

function planned(...args: Parameters<typeof plan>) {
  const outcome = plan(...args);
  assert.equal(outcome.kind, 'plan', JSON.stringify(outcome));
  if (outcome.kind !== 'plan') throw new Error('unreachable');
  return outcome.plan;
}

describe('planCompaction', () => {
  it('keeps the newest two turns and covers the rest', () => {
    const path = pathOf(turnsOf(6));
    const { summarize, keep, keptTurns } = planned(path);
    assert.deepEqual([summarize.length, keep.length, keptTurns], [8, 4, 2]);
    assert.deepEqual([...summarize, ...keep], path);
  });

  it('A6: refuses a manual compaction of fewer than 4 messages', () => {
    assert.deepEqual(plan(pathOf(turnsOf(2).slice(0, 3))), { kind: 'skip', reason: 'too_few_messages' });
    assert.equal(plan(pathOf(turnsOf(2))).kind, 'plan');
  });

  it('A19: automatic compaction wants 8 messages since the boundary and 10 on the path', () => {
    assert.deepEqual(plan(pathOf(turnsOf(4)), { trigger: 'auto' }), {
      kind: 'skip',
      reason: 'too_few_messages',
    });
    assert.equal(plan(pathOf(turnsOf(5)), { trigger: 'auto' }).kind, 'plan');
    const long = pathOf(turnsOf(8));
    assert.equal(plan(long.slice(-8), { trigger: 'auto' }).kind, 'plan');
    assert.equal(plan(long.slice(-6), { trigger: 'auto' }).kind, 'skip');
  });

  it('waits when a turn is in flight, unless a person asked', () => {
    const path = pathOf([...turnsOf(6), ['user', 'and now?']]);
    assert.deepEqual(plan(path, { trigger: 'auto' }), { kind: 'skip', reason: 'turn_in_flight' });
    const { keep } = planned(path);
    assert.equal(keep.at(-1)?.content, 'and now?');
  });

  it('caps the kept tail at a fifth of the budget', () => {
    const path = pathOf([...turnsOf(5), ['user', 'x'.repeat(4_000)], ['assistant', 'y'.repeat(4_000)]]);
    assert.equal(planned(path, { budget: 4_000 }).keptTurns, 0);
    assert.equal(planned(path, { budget: 40_000 }).keptTurns, 2);
  });

  it('covers a single giant turn whole, and keeps it while it is in flight', () => {
    const giant: Line[] = [
      ['user', 'go'],
      ...turnsOf(1).slice(1),
      ['assistant', 'more'],
      ['assistant', 'most'],
    ];
    assert.equal(planned(pathOf(giant)).summarize.length, 4);
    const open = pathOf([
      ['user', 'go'],
      ['assistant', call('a')],
      ['user', result('a')],
      ['assistant', call('b')],
    ]);
    assert.deepEqual(plan(open), { kind: 'skip', reason: 'too_few_messages' });
  });

  it('covers up to the end of the turn that holds `until`', () => {
    const path = pathOf(turnsOf(6));
    const { summarize } = planned(path, { until: path[2]?.id ?? '' });
    assert.deepEqual(summarize, path.slice(0, 4));
    assert.deepEqual(plan(path, { until: 'elsewhere' }), { kind: 'skip', reason: 'until_not_in_context' });
  });

  it('keeps a call and its results on one side, also when a person spoke in between', () => {
    const path = pathOf([
      ...turnsOf(3),
      ['user', 'look both up'],
      ['assistant', [{ type: 'text', text: 'two calls' }, ...blocksOf(call('a')), ...blocksOf(call('b'))]],
      ['user', 'hurry'],
      ['user', result('a', 'b')],
      ['assistant', 'both found'],
    ]);
    const { summarize, keep } = planned(path);
    assert.equal(summarize.length, 4);
    assert.equal(keep[2]?.content, 'look both up');
  });

  it('property: the cut falls on a turn start, parts no call from its result, and loses no message', () => {
    const line = fc.oneof(
      fc.record({
        kind: fc.constant('talk' as const),
        role: fc.constantFrom('user' as const, 'assistant' as const),
      }),
      fc.record({ kind: fc.constant('call' as const), parallel: fc.integer({ min: 1, max: 3 }) }),
    );
    fc.assert(
      fc.property(
        fc.array(line, { minLength: 4, maxLength: 40 }),
        fc.integer({ min: 100, max: 5_000 }),
        (script, budget) => {
          const path = pathOf(
            script.flatMap((step, index): Line[] => {
              if (step.kind === 'talk') return [[step.role, `text ${index}`]];
              const ids = Array.from({ length: step.parallel }, (_, n) => `${index}-${n}`);
              return [
                ['assistant', ids.flatMap((id) => blocksOf(call(id)))],
                ['user', result(...ids)],
              ];
            }),
          );
          const outcome = plan(path, { budget });
          if (outcome.kind === 'skip') return;
          const { summarize, keep } = outcome.plan;
          assert.deepEqual([...summarize, ...keep], path);
          assert.ok(summarize.length > 0);
          const idsOf = (messages: readonly Message[], type: 'tool_use' | 'tool_result') =>
            messages.flatMap(({ content }) =>
              blocksOf(content).flatMap((block) =>
                block.type === type
                  ? [
                      block.type === 'tool_use'
                        ? block.id
                        : block.type === 'tool_result'
                          ? block.tool_use_id
                          : '',
                    ]
                  : [],
              ),
            );
          assert.deepEqual(idsOf(summarize, 'tool_use').sort(), idsOf(summarize, 'tool_result').sort());
          if (keep[0]) assert.equal(keep[0].role, 'user');
        },
      ),
    );
  });
});
