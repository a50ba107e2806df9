import { after } from 'node:test';
import { CreateTableCommand, waitUntilTableExists } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createStore, type Store } from '../../lib/store/index.ts';
import { PRESSURE_INDEX, tableDefinition } from '../../lib/store/table.ts';
import { newId } from '../../lib/treepath/ids.ts';
import * as engines from './engine.ts';

export type { Engine } from './engine.ts';

const running: (() => void)[] = [];
after(() => {
  for (const stop of running) stop();
});

function stopped<E extends engines.Engine | undefined>(engine: E): E {
  if (engine) running.push(() => engine.stop());
  return engine;
}

/** Engines that end with the test file. */
export const startEngine = async (): Promise<engines.Engine> => stopped(await engines.startEngine());
export const startDynamoDbLocal = async () => stopped(await engines.startDynamoDbLocal());
export const givenEngine = () => stopped(engines.givenEngine());

export type TestStore = Store & {
  readonly tableName: string;
  readonly client: DynamoDBDocumentClient;
  now: number;
};

let tables = 0;

/** A store on a table of its own, with a clock that the test sets. */
export async function startStore(
  engine: engines.Engine,
  now = Date.parse('2026-03-01T12:00:00Z'),
): Promise<TestStore> {
  tables += 1;
  const tableName = `table-${process.pid}-${tables}`;
  await engine.client.send(new CreateTableCommand(tableDefinition(tableName)));
  await waitUntilTableExists(
    { client: engine.client, maxWaitTime: 30, minDelay: 0.05, maxDelay: 0.2 },
    { TableName: tableName },
  );
  const client = DynamoDBDocumentClient.from(engine.client, {
    marshallOptions: { removeUndefinedValues: true },
  });
  return storeOn(client, tableName, now);
}

/** A store with a clock that the test sets. */
export function storeOn(
  client: DynamoDBDocumentClient,
  tableName: string,
  now = Date.parse('2026-03-01T12:00:00Z'),
): TestStore {
  const time = { now };
  const store = createStore({
    client,
    tableName,
    indexName: PRESSURE_INDEX,
    clock: () => time.now,
    newId: (above) => newId(time.now, above),
  });
  return Object.defineProperty({ ...store, tableName, client }, 'now', {
    get: () => time.now,
    set: (value: number) => {
      time.now = value;
    },
  }) as TestStore;
}
