import { decodeTime, ulid } from 'ulid';

/**
 * A new ULID that sorts after its parent even when the writer's clock is hours behind: the time part is at least one
 * millisecond past the parent's. `now` is epoch milliseconds.
 */
export function newId(now: number, after?: string | null): string {
  return ulid(after ? Math.max(now, decodeTime(after) + 1) : now);
}
