import { setTimeout as delay } from 'node:timers/promises';

/** `done`: nothing is left to wait for. `result`: something came out. `busy`: somebody works. `quiet`: nobody does. */
export type Sight = 'done' | 'result' | 'busy' | 'quiet';

export type Patience = {
  /** Milliseconds in which nobody works, until waiting ends. */
  readonly quietMs: number;
  /** Milliseconds without a result, until waiting ends although somebody works. */
  readonly stuckMs: number;
  readonly pollMs: number;
};

type Time = { readonly now: () => number; readonly wait: (ms: number) => Promise<unknown> };

/** Looks again and again until all is done, or no more is to be expected. Resolves to whether all is done. */
export async function untilSettled(
  look: () => Promise<Sight>,
  { quietMs, stuckMs, pollMs }: Patience,
  { now, wait }: Time = { now: () => performance.now(), wait: delay },
): Promise<boolean> {
  let workedAt = now();
  let resultAt = workedAt;
  for (;;) {
    const sight = await look();
    if (sight === 'done') return true;
    if (sight !== 'quiet') workedAt = now();
    if (sight === 'result') resultAt = now();
    if (now() - workedAt >= quietMs || now() - resultAt >= stuckMs) return false;
    await wait(pollMs);
  }
}
