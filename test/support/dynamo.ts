import { type ChildProcess, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { after } from 'node:test';
import { CreateTableCommand, DynamoDBClient, waitUntilTableExists } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createStore, type Store } from '../../lib/store/index.ts';
import { PRESSURE_INDEX, tableDefinition } from '../../lib/store/table.ts';
import { newId } from '../../lib/treepath/ids.ts';

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

export type Engine = { readonly client: DynamoDBClient; readonly endpoint: string; stop(): void };

const running: (() => void)[] = [];
after(() => {
  for (const stop of running) stop();
});

/** A real DynamoDB engine in memory, on a free port of this machine; ends with the test file. */
export async function startEngine(): Promise<Engine> {
  const binary = join(
    dirname(createRequire(import.meta.url).resolve('@dynoxide/linux-x64/package.json')),
    'dynoxide',
  );
  const port = await freePort();
  const child: ChildProcess = spawn(binary, ['serve', '--port', `${port}`], { stdio: 'ignore' });
  const endpoint = `http://127.0.0.1:${port}`;
  const client = new DynamoDBClient({
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    maxAttempts: 10,
  });
  const stop = (): void => {
    client.destroy();
    child.kill();
  };
  running.push(stop);
  return { client, endpoint, stop };
}

export type TestStore = Store & { readonly tableName: string; now: number };

let tables = 0;

/** A store on a table of its own, with a clock that the test sets. */
export async function startStore(
  engine: Engine,
  now = Date.parse('2026-03-01T12:00:00Z'),
): Promise<TestStore> {
  tables += 1;
  const tableName = `table-${tables}`;
  await engine.client.send(new CreateTableCommand(tableDefinition(tableName)));
  await waitUntilTableExists(
    { client: engine.client, maxWaitTime: 10, minDelay: 0.05, maxDelay: 0.2 },
    { TableName: tableName },
  );
  const time = { now };
  const store = createStore({
    client: DynamoDBDocumentClient.from(engine.client, { marshallOptions: { removeUndefinedValues: true } }),
    tableName,
    indexName: PRESSURE_INDEX,
    clock: () => time.now,
    newId: (above) => newId(time.now, above),
  });
  return Object.defineProperty({ ...store, tableName }, 'now', {
    get: () => time.now,
    set: (value: number) => {
      time.now = value;
    },
  }) as TestStore;
}
