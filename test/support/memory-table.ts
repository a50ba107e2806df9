import { ConditionalCheckFailedException, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import type {
  BatchGetCommandInput,
  BatchWriteCommandInput,
  DynamoDBDocumentClient,
  GetCommandInput,
  QueryCommandInput,
  TransactWriteCommandInput,
  UpdateCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { holds, type Item, order, updated, type Values } from './expressions.ts';

const PAGE_BYTES = 1_048_576;
const ITEM_BYTES = 409_600;

type Operation = NonNullable<TransactWriteCommandInput['TransactItems']>[number];
type Write = { key: string; item: Item | undefined };

const copy = <T>(value: T): T => structuredClone(value);
const nameOf = ({ PK, SK }: Item): string => JSON.stringify([PK, SK]);
const refused = (message: string): Error =>
  Object.assign(new Error(message), { name: 'ValidationException' });

/**
 * A table in memory with the rules of DynamoDB that the store leans on, quick enough for many thousand sequences. The
 * contract test holds it to the same behaviour as the real engines.
 */
export class MemoryTable {
  readonly #items = new Map<string, Item>();
  readonly #partitions = new Map<unknown, Map<string, Item>>();

  /** A client for it; `around` sees every request and may fail it. */
  client(around: (command: string, send: () => unknown) => Promise<unknown> = async (_, send) => send()) {
    const send = async (command: { constructor: { name: string }; input: unknown }): Promise<unknown> =>
      around(command.constructor.name, () => copy(this.#answer(command.constructor.name, command.input)));
    return { send, middlewareStack: { add: () => undefined } } as unknown as DynamoDBDocumentClient;
  }

  #answer(command: string, input: unknown): unknown {
    switch (command) {
      case 'GetCommand':
        return { Item: this.#items.get(nameOf((input as GetCommandInput).Key as Item)) };
      case 'BatchGetCommand':
        return this.#batchGet(input as BatchGetCommandInput);
      case 'BatchWriteCommand':
        return this.#batchWrite(input as BatchWriteCommandInput);
      case 'QueryCommand':
        return this.#query(input as QueryCommandInput);
      case 'UpdateCommand':
        return this.#update(input as UpdateCommandInput);
      case 'TransactWriteCommand':
        return this.#transact(input as TransactWriteCommandInput);
      default:
        throw new Error(`unknown command ${command}`);
    }
  }

  #batchGet({ RequestItems = {} }: BatchGetCommandInput) {
    const [[table = '', { Keys = [] } = {}] = []] = Object.entries(RequestItems) as [
      string,
      { Keys?: Item[] },
    ][];
    const names = Keys.map(nameOf);
    if (names.length > 100 || new Set(names).size < names.length) throw refused('too many or duplicate keys');
    return { Responses: { [table]: names.flatMap((name) => this.#items.get(name) ?? []) } };
  }

  #batchWrite({ RequestItems = {} }: BatchWriteCommandInput) {
    const requests = Object.values(RequestItems)[0] ?? [];
    if (requests.length > 25) throw refused('too many writes');
    for (const { PutRequest } of requests) {
      const item = PutRequest?.Item as Item;
      this.#put({ key: nameOf(item), item: checked(item) });
    }
    return {};
  }

  #put({ key, item }: Write): void {
    if (item === undefined) return;
    const stored = copy(item);
    this.#items.set(key, stored);
    const partition = this.#partitions.get(item.PK) ?? new Map();
    this.#partitions.set(item.PK, partition.set(key, stored));
  }

  #query(input: QueryCommandInput) {
    const {
      KeyConditionExpression,
      ExpressionAttributeValues: values = {},
      IndexName,
      ScanIndexForward,
    } = input;
    const [partition, sort] = IndexName === undefined ? ['PK', 'SK'] : ['pressurePk', 'pressureSk'];
    const items = IndexName === undefined ? this.#partitions.get(values[':pk']) : this.#items;
    const found = [...(items?.values() ?? [])]
      .filter(
        (item) => item[partition] !== undefined && holds(KeyConditionExpression, item, values as Values),
      )
      .sort((a, b) => order(a[sort], b[sort]));
    if (ScanIndexForward === false) found.reverse();
    const start = input.ExclusiveStartKey ? nameOf(input.ExclusiveStartKey) : undefined;
    const rest =
      start === undefined ? found : found.slice(found.findIndex((item) => nameOf(item) === start) + 1);
    let bytes = 0;
    const page: Item[] = [];
    for (const item of rest) {
      if (page.length >= (input.Limit ?? Number.POSITIVE_INFINITY) || (page.length > 0 && bytes > PAGE_BYTES))
        break;
      page.push(item);
      bytes += Buffer.byteLength(JSON.stringify(item));
    }
    const last = page.at(-1);
    const more =
      last !== undefined && page.length < rest.length
        ? { LastEvaluatedKey: { PK: last.PK, SK: last.SK } }
        : {};
    return { Items: page, ...more };
  }

  #update(input: UpdateCommandInput) {
    const key = nameOf(input.Key as Item);
    const before = this.#items.get(key);
    const values = (input.ExpressionAttributeValues ?? {}) as Values;
    if (!holds(input.ConditionExpression, before, values)) {
      throw new ConditionalCheckFailedException({ message: 'The conditional request failed', $metadata: {} });
    }
    const item = checked(updated(input.UpdateExpression ?? '', before, input.Key as Item, values));
    this.#put({ key, item });
    return { Attributes: item };
  }

  #transact({ TransactItems = [] }: TransactWriteCommandInput) {
    const outcomes = TransactItems.map((operation) => this.#prepare(operation));
    const keys = outcomes.map(({ key }) => key);
    if (keys.length > 100 || new Set(keys).size < keys.length)
      throw refused('too many operations, or two on one item');
    if (outcomes.some(({ fits }) => !fits)) {
      throw new TransactionCanceledException({
        message: 'Transaction cancelled',
        $metadata: {},
        CancellationReasons: outcomes.map(({ fits }) => ({ Code: fits ? 'None' : 'ConditionalCheckFailed' })),
      });
    }
    for (const outcome of outcomes) this.#put(outcome);
    return {};
  }

  #prepare({ Put, Update, ConditionCheck }: Operation): Write & { fits: boolean } {
    const target = Put ?? Update ?? ConditionCheck;
    const key = nameOf((Put?.Item ?? Update?.Key ?? ConditionCheck?.Key) as Item);
    const before = this.#items.get(key);
    const values = (target?.ExpressionAttributeValues ?? {}) as Values;
    const fits = holds(target?.ConditionExpression, before, values);
    if (Put) return { key, fits, item: checked(Put.Item as Item) };
    if (!Update) return { key, fits, item: undefined };
    const item = fits
      ? checked(updated(Update.UpdateExpression ?? '', before, Update.Key as Item, values))
      : undefined;
    return { key, fits, item };
  }
}

function checked(item: Item): Item {
  const stored = Object.fromEntries(Object.entries(item).filter(([, value]) => value !== undefined));
  if (Buffer.byteLength(JSON.stringify(stored)) > ITEM_BYTES)
    throw refused('Item size has exceeded the maximum allowed size');
  if (stored.PK === '' || stored.SK === '') throw refused('empty key');
  return stored;
}
