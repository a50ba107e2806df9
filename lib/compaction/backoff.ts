import { MAX_BACKOFF_MS, MIN_BACKOFF_MS } from '../settings/defaults.ts';

/**
 * Milliseconds until a channel that failed `failures` times in a row is tried again: 2^n × cooldown, at most a day
 * (design 6). A cooldown of nothing still backs off, or a failing channel would be tried at every scan.
 */
export function backoffMs(failures: number, cooldownMinutes: number): number {
  const base = Math.max(cooldownMinutes * 60_000, MIN_BACKOFF_MS);
  return Math.min(base * 2 ** Math.min(failures, 30), MAX_BACKOFF_MS);
}
