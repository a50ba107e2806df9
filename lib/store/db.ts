import { setTimeout as pause } from 'node:timers/promises';
import {
  ConditionalCheckFailedException,
  TransactionCanceledException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  BatchWriteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  QueryCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
  type UpdateCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { StoreError } from '../errors.ts';
import { isPossible, type Key } from './keys.ts';
import { assertStorable } from './storable.ts';

export type Item = Record<string, unknown>;
export type Operation = NonNullable<TransactWriteCommandInput['TransactItems']>[number];
export type Range = { readonly PK: string; readonly from: string; readonly to: string };

/** Operations that one transaction may have. */
export const MAX_OPERATIONS = 100;
const BATCH_GET = 100;
const BATCH_WRITE = 25;
const BATCHES_AT_ONCE = 8;
/** Rounds of unprocessed items before giving up; the SDK itself backs off on throttles. */
const MAX_ROUNDS = 10;

/** Operations without the table's name; it is filled in here. */
type Tableless<T> = Omit<T, 'TableName'>;
export type Write =
  | { readonly Put: Tableless<NonNullable<Operation['Put']>> }
  | { readonly Update: Tableless<NonNullable<Operation['Update']>> }
  | { readonly ConditionCheck: Tableless<NonNullable<Operation['ConditionCheck']>> };

type UpdateOf = Tableless<UpdateCommandInput> & { readonly Key: Key };

/** The few DynamoDB calls that the store is made of; consistent reads, one table. */
export type Db = ReturnType<typeof createDb>;

export function createDb(client: DynamoDBDocumentClient, tableName: string) {
  client.middlewareStack.add(
    (next) => async (args) => {
      try {
        return await next(args);
      } catch (error) {
        throw told(error);
      }
    },
    { step: 'initialize', name: 'storeErrors', override: true },
  );

  async function get(key: Key | undefined): Promise<Item | undefined> {
    if (key === undefined || !isPossible(key)) return undefined;
    const { Item } = await client.send(
      new GetCommand({ TableName: tableName, Key: key, ConsistentRead: true }),
    );
    return Item;
  }

  /** Items in the order of the keys; `undefined` where there is none, or no key. One request for up to 100 keys. */
  async function batchGet(wanted: readonly (Key | undefined)[]): Promise<(Item | undefined)[]> {
    const found = new Map<string, Item>();
    const name = ({ PK, SK }: Key): string => JSON.stringify([PK, SK]);
    const asked = wanted.filter((key) => key !== undefined && isPossible(key)) as Key[];
    const unique = [...new Map(asked.map((key) => [name(key), key])).values()];
    for (let start = 0; start < unique.length; start += BATCH_GET) {
      let pending: Key[] = unique.slice(start, start + BATCH_GET);
      for (let round = 0; pending.length > 0; round += 1) {
        if (round === MAX_ROUNDS) throw busy('read');
        await apart(round);
        const { Responses, UnprocessedKeys } = await client.send(
          new BatchGetCommand({ RequestItems: { [tableName]: { Keys: pending, ConsistentRead: true } } }),
        );
        for (const item of Responses?.[tableName] ?? []) found.set(name(item as Key), item);
        pending = (UnprocessedKeys?.[tableName]?.Keys ?? []) as Key[];
      }
    }
    return wanted.map((key) => key && found.get(name(key)));
  }

  /** Pages of a key range, oldest first unless `reverse`; `firstLimit` items in the first, a megabyte in the others. */
  async function* pages(
    range: Range,
    options: { reverse?: boolean; firstLimit?: number } = {},
  ): AsyncGenerator<Item[]> {
    const { firstLimit } = options;
    let start: Item | undefined;
    if (![range.from, range.to].every((SK) => isPossible({ PK: range.PK, SK }))) return;
    do {
      const page = await client.send(
        new QueryCommand({
          TableName: tableName,
          KeyConditionExpression: 'PK = :pk AND SK BETWEEN :from AND :to',
          ExpressionAttributeValues: { ':pk': range.PK, ':from': range.from, ':to': range.to },
          ConsistentRead: true,
          ScanIndexForward: options.reverse !== true,
          ...(firstLimit === undefined || start !== undefined ? {} : { Limit: firstLimit }),
          ...(start === undefined ? {} : { ExclusiveStartKey: start }),
        }),
      );
      yield page.Items ?? [];
      start = page.LastEvaluatedKey;
    } while (start !== undefined);
  }

  async function queryAll(range: Range): Promise<Item[]> {
    const items: Item[] = [];
    for await (const page of pages(range)) items.push(...page);
    return items;
  }

  /** False when a condition failed. */
  async function update(input: UpdateOf): Promise<boolean> {
    return (await updated(input)) !== undefined;
  }

  /** The item after the update; `undefined` when a condition failed. */
  async function updated(input: UpdateOf): Promise<Item | undefined> {
    if (!isPossible(input.Key)) return undefined;
    assertStorable(input.ExpressionAttributeValues ?? {});
    try {
      const { Attributes } = await client.send(
        new UpdateCommand({ ReturnValues: 'ALL_NEW', ...input, TableName: tableName }),
      );
      return Attributes ?? {};
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return undefined;
      throw error;
    }
  }

  /** All or nothing. False when a condition failed or another transaction was in the way: read again and retry. */
  async function transact(writes: readonly Write[]): Promise<boolean> {
    for (const write of writes) assertStorable(writtenBy(write));
    try {
      await client.send(
        new TransactWriteCommand({ TransactItems: writes.map((write) => withTable(write, tableName)) }),
      );
      return true;
    } catch (error) {
      if (error instanceof TransactionConflictException) return false;
      if (error instanceof TransactionCanceledException && canRetry(error)) return false;
      throw error;
    }
  }

  async function batchPut(items: readonly Item[]): Promise<void> {
    for (const item of items) assertStorable(item);
    const batches = Array.from({ length: Math.ceil(items.length / BATCH_WRITE) }, (_, index) =>
      items.slice(index * BATCH_WRITE, (index + 1) * BATCH_WRITE),
    );
    for (let start = 0; start < batches.length; start += BATCHES_AT_ONCE) {
      await Promise.all(batches.slice(start, start + BATCHES_AT_ONCE).map(putBatch));
    }
  }

  async function putBatch(items: readonly Item[]): Promise<void> {
    let pending = items.map((Item) => ({ PutRequest: { Item } }));
    for (let round = 0; pending.length > 0; round += 1) {
      if (round === MAX_ROUNDS) throw busy('write');
      await apart(round);
      const { UnprocessedItems } = await client.send(
        new BatchWriteCommand({ RequestItems: { [tableName]: pending } }),
      );
      pending = (UnprocessedItems?.[tableName] ?? []) as typeof pending;
    }
  }

  return { client, tableName, get, batchGet, pages, queryAll, update, updated, transact, batchPut };
}

function withTable(write: Write, TableName: string): Operation {
  if ('Put' in write) return { Put: { ...write.Put, TableName } };
  if ('Update' in write) return { Update: { ...write.Update, TableName } };
  return { ConditionCheck: { ...write.ConditionCheck, TableName } };
}

function writtenBy(write: Write): Readonly<Record<string, unknown>> {
  if ('Put' in write) return write.Put.Item ?? {};
  const { Key, ExpressionAttributeValues } = 'Update' in write ? write.Update : write.ConditionCheck;
  return { ...ExpressionAttributeValues, ...Key };
}

const RETRYABLE_REASONS = new Set([
  'None',
  'ConditionalCheckFailed',
  'TransactionConflict',
  'ThrottlingError',
  'ProvisionedThroughputExceeded',
]);

const canRetry = (error: TransactionCanceledException): boolean =>
  (error.CancellationReasons ?? []).every(({ Code }) => RETRYABLE_REASONS.has(Code ?? 'None'));

/** What the client gives up on after its own retries, and another try may well heal. */
const TRANSIENT = new Set([
  'ProvisionedThroughputExceededException',
  'ThrottlingException',
  'RequestLimitExceeded',
  'InternalServerError',
  'ServiceUnavailable',
  'TransactionInProgressException',
  'TimeoutError',
  'NetworkingError',
]);
const CONNECTION = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN']);

/** Throttles and broken connections as `StoreError` (`store_busy`, retryable); anything else as it is. */
function told(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const code = 'code' in error ? String(error.code) : '';
  if (!TRANSIENT.has(error.name) && !CONNECTION.has(code)) return error;
  return new StoreError('store_busy', 'The table does not answer at the moment; try again.', {
    retryable: true,
    cause: error,
  });
}

const busy = (what: string): StoreError =>
  new StoreError('store_busy', `The table did not take the ${what} in time; try again.`, { retryable: true });

/** Tries of an optimistic write before giving up: as many writers may meet on one conversation at once. */
const MAX_TRIES = 40;
const MAX_PAUSE_MS = 100;

/** Jitter parts writers that failed together; the first retry goes at once, because most conflicts are over by then. */
async function apart(tries: number): Promise<void> {
  if (tries > 1) await pause(Math.random() * Math.min(2 ** tries, MAX_PAUSE_MS));
}

/**
 * Repeats read, decide, write until the write is taken. `attempt` returns `undefined` when its condition failed.
 * Throws `StoreError` (`contention`, retryable) when that does not end.
 */
export async function optimistic<T>(attempt: (tries: number) => Promise<T | undefined>): Promise<T> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    await apart(tries);
    const result = await attempt(tries);
    if (result !== undefined) return result;
  }
  throw new StoreError('contention', 'Too many writers changed this conversation at once; try again.', {
    retryable: true,
  });
}
