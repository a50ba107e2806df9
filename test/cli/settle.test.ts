import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Sight, untilSettled } from '../../local/cli/settle.ts';

const PATIENCE = { quietMs: 1_000, stuckMs: 5_000, pollMs: 100 };

/** What is seen in each look, the last for ever; returns whether all is done and how long that took. */
async function watched(...sights: Sight[]): Promise<{ done: boolean; ms: number }> {
  let ms = 0;
  let looks = 0;
  const time = {
    now: () => ms,
    wait: async (pause: number) => {
      ms += pause;
    },
  };
  const look = async (): Promise<Sight> => sights[Math.min(looks++, sights.length - 1)] ?? 'quiet';
  return { done: await untilSettled(look, PATIENCE, time), ms };
}

const times = (count: number, sight: Sight): Sight[] => Array.from({ length: count }, () => sight);

describe('waiting for automatic compaction', () => {
  it('ends at once when all is done', async () => {
    assert.deepEqual(await watched('done'), { done: true, ms: 0 });
    assert.deepEqual(await watched('quiet', 'busy', 'result', 'done'), { done: true, ms: 300 });
  });

  it('ends when nobody has worked for a while, counted from the last work', async () => {
    assert.deepEqual(await watched('quiet'), { done: false, ms: 1_000 });
    assert.deepEqual(await watched(...times(9, 'quiet'), 'busy', 'quiet'), { done: false, ms: 1_900 });
    assert.deepEqual(await watched(...times(9, 'quiet'), 'result', 'quiet'), { done: false, ms: 1_900 });
  });

  it('outlasts a slow model, not one that never brings a result', async () => {
    assert.deepEqual(await watched(...times(40, 'busy'), 'done'), { done: true, ms: 4_000 });
    assert.deepEqual(await watched('busy'), { done: false, ms: 5_000 });
    assert.deepEqual(await watched(...times(40, 'busy'), 'result', 'busy'), { done: false, ms: 9_000 });
  });
});
