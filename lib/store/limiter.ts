import type { RateLimiter } from '../ports.ts';
import type { StoreContext } from './context.ts';
import { keys } from './keys.ts';

const HOUR_MS = 3_600_000;

/** Counters of one hour in one item: all calls, and those of each trigger (A21). They expire a day later. */
export function createRateLimiter({ db }: StoreContext): RateLimiter {
  return {
    async take(trigger, limit, now) {
      const hourStart = Math.floor(now / HOUR_MS) * HOUR_MS;
      const mine = trigger === 'auto' ? 'autoCalls' : 'manualCalls';
      const allowed = await db.update({
        Key: keys.rate(new Date(hourStart).toISOString().slice(0, 'YYYY-MM-DDTHH'.length)),
        UpdateExpression: `SET expiresAt = :expires ADD allCalls :one, ${mine} :one`,
        ...(limit === 0
          ? {}
          : { ConditionExpression: 'attribute_not_exists(allCalls) OR allCalls < :limit' }),
        ExpressionAttributeValues: {
          ':one': 1,
          ':expires': Math.floor((hourStart + 25 * HOUR_MS) / 1_000),
          ...(limit === 0 ? {} : { ':limit': limit }),
        },
      });
      return { allowed, retryAfterSeconds: Math.ceil((hourStart + HOUR_MS - now) / 1_000) };
    },
  };
}
