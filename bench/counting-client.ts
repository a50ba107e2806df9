import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';

export type Count = { requests: number; units: number };

type Capacity = { CapacityUnits?: number };

/** Capacity units of one answer, whatever its shape: one table, or one entry a table. */
function unitsOf(output: unknown): number {
  const { ConsumedCapacity } = (output ?? {}) as { ConsumedCapacity?: Capacity | Capacity[] };
  const entries = Array.isArray(ConsumedCapacity)
    ? ConsumedCapacity
    : ConsumedCapacity
      ? [ConsumedCapacity]
      : [];
  return entries.reduce((sum, { CapacityUnits = 0 }) => sum + CapacityUnits, 0);
}

/** Counts every request of a client and the capacity units that the engine reports for it. */
export function countRequests(client: DynamoDBClient): Count {
  const count: Count = { requests: 0, units: 0 };
  client.middlewareStack.add(
    (next) => async (args) => {
      const result = await next({
        ...args,
        input: { ...(args.input as object), ReturnConsumedCapacity: 'TOTAL' } as never,
      });
      count.requests += 1;
      count.units += unitsOf(result.output);
      return result;
    },
    { step: 'initialize', name: 'countRequests' },
  );
  return count;
}
