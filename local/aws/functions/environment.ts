import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { readLines } from '../support/lines.ts';
import { settledWithin } from '../support/wait.ts';
import type { Watchdog } from '../support/watchdog.ts';
import type { ChildMessage, ErrorBody } from './protocol.ts';

export type FunctionConfig = {
  readonly logicalId: string;
  readonly name: string;
  /** Short name for people. */
  readonly label: string;
  readonly arn: string;
  readonly file: string;
  readonly exportName: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly memoryMb: number;
  /** Reserved concurrency; without it only the machine limits. */
  readonly reserved?: number;
  /** Queue for asynchronous events that are given up. */
  readonly deadLetterArn?: string;
};

/** `payload` is the answer as JSON text. */
export type Outcome =
  | { readonly ok: true; readonly payload: string }
  | { readonly ok: false; readonly kind: 'function_error' | 'throttled'; readonly error: ErrorBody };

export type Environment = {
  readonly pid: number;
  readonly alive: boolean;
  /** One invocation; resolves however it ends. The time limit begins once the function is loaded. */
  run(payload: string): Promise<Outcome>;
  stop(): Promise<void>;
};

/** Loading a function counts towards its own time limit only after this long. */
const INIT_MS = 10_000;
const EXIT_MS = 1_000;
const CHILD = fileURLToPath(new URL('./child.ts', import.meta.url));

/** Answers of Lambda are at most 6 MB. */
export const PAYLOAD_LIMIT = 6 * 1024 * 1024;

/** Starts a process that loads the function; `onLine` receives what it prints, `onExit` its end. */
export function startEnvironment(
  config: FunctionConfig,
  hooks: { watchdog: Watchdog; onLine: (line: string) => void; onExit: () => void },
): Environment {
  const child = fork(CHILD, [config.file, config.exportName], {
    env: { ...config.environment, AWS_LAMBDA_LOG_STREAM_NAME: randomUUID() },
    execArgv: [`--max-old-space-size=${config.memoryMb}`],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    // A process group of its own: Ctrl-C in the terminal must not end an invocation that is being drained.
    detached: true,
  });
  readLines(child.stdout, hooks.onLine);
  readLines(child.stderr, hooks.onLine);
  return new ChildEnvironment(config, child, hooks);
}

class ChildEnvironment implements Environment {
  readonly #config: FunctionConfig;
  readonly #child: ChildProcess;
  readonly #ready: Promise<Outcome | undefined>;
  readonly #exited: Promise<string>;
  alive = true;

  constructor(
    config: FunctionConfig,
    child: ChildProcess,
    hooks: { watchdog: Watchdog; onExit: () => void },
  ) {
    this.#config = config;
    this.#child = child;
    if (child.pid !== undefined) hooks.watchdog.watch(child.pid);
    this.#exited = new Promise((resolve) => {
      const end = (reason: string): void => {
        this.alive = false;
        if (child.pid !== undefined) hooks.watchdog.forget(child.pid);
        hooks.onExit();
        resolve(reason);
      };
      child.once('exit', (code, signal) => end(signal === null ? `exit status ${code}` : `signal ${signal}`));
      child.once('error', (error) => end(error.message));
    });
    this.#ready = this.#load();
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  async run(payload: string): Promise<Outcome> {
    const failed = await this.#ready;
    if (failed) return failed;
    const requestId = randomUUID();
    const { timeoutMs, arn } = this.#config;
    const answer = this.#next((message) => 'requestId' in message && message.requestId === requestId);
    this.#send({ requestId, payload, deadline: Date.now() + timeoutMs, functionArn: arn });
    const outcome = await this.#within(timeoutMs, answer.promise);
    answer.cancel();
    return outcome;
  }

  async stop(): Promise<void> {
    if (!this.alive) return;
    if (this.#child.connected) this.#child.disconnect();
    if (await settledWithin(this.#exited, EXIT_MS)) return;
    this.#child.kill('SIGKILL');
    await this.#exited;
  }

  /** Resolves to nothing when the function is loaded, else to the outcome of any invocation. */
  async #load(): Promise<Outcome | undefined> {
    const loaded = this.#next((message) => message.kind === 'ready' || message.kind === 'init_failed');
    const outcome = await this.#within(INIT_MS + this.#config.timeoutMs, loaded.promise);
    loaded.cancel();
    return outcome.ok ? undefined : outcome;
  }

  #next(wanted: (message: ChildMessage) => boolean): { promise: Promise<Outcome>; cancel: () => void } {
    let cancel = (): void => undefined;
    const promise = new Promise<Outcome>((resolve) => {
      const onMessage = (message: ChildMessage): void => {
        // The function's own code may use the channel too; only what the runtime says has a kind.
        if (message?.kind !== undefined && wanted(message)) resolve(toOutcome(message));
      };
      this.#child.on('message', onMessage);
      cancel = () => void this.#child.off('message', onMessage);
    });
    return { promise, cancel: () => cancel() };
  }

  #send(message: object): void {
    // A process that ended meanwhile is noticed by its exit.
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }

  /** The answer, or why there is none: the time is up (and the process with it), or the process ended. */
  async #within(ms: number, answer: Promise<Outcome>): Promise<Outcome> {
    const abort = new AbortController();
    const ended = this.#exited.then((reason) =>
      failure('Runtime.ExitError', `The process of the function ended with ${reason} before it answered`),
    );
    const late = new Promise<Outcome>((resolve) => {
      const timer = setTimeout(() => {
        // Not to be used again, although its exit is noticed only later
        this.alive = false;
        this.#child.kill('SIGKILL');
        resolve(
          failure(
            'Sandbox.Timedout',
            `Task timed out after ${(this.#config.timeoutMs / 1000).toFixed(2)} seconds`,
          ),
        );
      }, ms);
      abort.signal.addEventListener('abort', () => clearTimeout(timer));
    });
    const outcome = await Promise.race([answer, late, ended]);
    abort.abort();
    return outcome;
  }
}

export function failure(errorType: string, errorMessage: string): Outcome {
  return { ok: false, kind: 'function_error', error: { errorType, errorMessage } };
}

function toOutcome(message: ChildMessage): Outcome {
  if (message.kind === 'ready') return { ok: true, payload: 'null' };
  if (message.kind !== 'result') return { ok: false, kind: 'function_error', error: message.error };
  const bytes = Buffer.byteLength(message.payload);
  if (bytes <= PAYLOAD_LIMIT) return { ok: true, payload: message.payload };
  return failure(
    'Function.ResponseSizeTooLarge',
    `Response payload size (${bytes} bytes) exceeded maximum allowed payload size (${PAYLOAD_LIMIT} bytes).`,
  );
}
