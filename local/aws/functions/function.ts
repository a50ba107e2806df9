import type { Watchdog } from '../support/watchdog.ts';
import type { Log } from '../types.ts';
import {
  type Environment,
  type FunctionConfig,
  failure,
  type Outcome,
  PAYLOAD_LIMIT,
  startEnvironment,
} from './environment.ts';
import { functionLine } from './log-line.ts';

/** Environments of one function beyond which callers wait, so that a burst does not exhaust the machine. */
const MOST_ENVIRONMENTS = 10;

/** A function with its execution environments: idle ones are used again, busy ones hold exactly one invocation. */
export class LambdaFunction {
  readonly config: FunctionConfig;
  readonly #watchdog: Watchdog;
  readonly #log: Log;
  readonly #idle: Environment[] = [];
  readonly #busy = new Set<Environment>();
  readonly #waiting: (() => void)[] = [];
  #reserved: number | undefined;
  #stopped = false;

  constructor(config: FunctionConfig, watchdog: Watchdog, log: Log) {
    this.config = config;
    this.#watchdog = watchdog;
    this.#log = log;
    this.#reserved = config.reserved;
  }

  get reserved(): number | undefined {
    return this.#reserved;
  }

  /** Reserved concurrency from now on; nothing removes the limit. Invocations that run are not ended. */
  reserve(concurrency: number | undefined): void {
    this.#reserved = concurrency;
  }

  get inFlight(): number {
    return this.#busy.size + this.#waiting.length;
  }

  get pids(): readonly number[] {
    return [...this.#busy, ...this.#idle].map(({ pid }) => pid);
  }

  /** One synchronous invocation with a JSON text; over the reserved concurrency it is throttled at once. */
  async invoke(payload: string): Promise<Outcome> {
    if (Buffer.byteLength(payload) > PAYLOAD_LIMIT)
      return failure('RequestEntityTooLargeException', `Request must be smaller than ${PAYLOAD_LIMIT} bytes`);
    if (this.#stopped) return throttled('The embedded AWS is stopping');
    if (this.#reserved !== undefined && this.inFlight >= this.#reserved) return throttled('Rate Exceeded.');
    const environment = await this.#take();
    if (!environment) return throttled('The embedded AWS is stopping');
    try {
      const outcome = await environment.run(payload);
      if (!outcome.ok) this.#report(outcome.error.errorType, outcome.error.errorMessage);
      return outcome;
    } finally {
      this.#giveBack(environment);
    }
  }

  /** Ends every environment; invocations that still run fail. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const wake of this.#waiting.splice(0)) wake();
    const all = [...this.#busy, ...this.#idle];
    await Promise.all(all.map((environment) => environment.stop()));
  }

  async #take(): Promise<Environment | undefined> {
    while (!this.#stopped && this.#busy.size >= MOST_ENVIRONMENTS)
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    if (this.#stopped) return undefined;
    const environment = this.#idle.pop() ?? this.#start();
    this.#busy.add(environment);
    return environment;
  }

  #start(): Environment {
    const environment: Environment = startEnvironment(this.config, {
      watchdog: this.#watchdog,
      onLine: (line) => this.#log(functionLine(this.config.label, line)),
      onExit: () => this.#forget(environment),
    });
    return environment;
  }

  #giveBack(environment: Environment): void {
    this.#busy.delete(environment);
    if (environment.alive) this.#idle.push(environment);
    this.#waiting.shift()?.();
  }

  #forget(environment: Environment): void {
    const position = this.#idle.indexOf(environment);
    if (position >= 0) this.#idle.splice(position, 1);
  }

  #report(errorType: string, errorMessage: string): void {
    this.#log({
      level: 'error',
      source: 'runtime',
      resource: this.config.label,
      message: `${this.config.label} failed: ${errorType}: ${errorMessage}`,
    });
  }
}

function throttled(errorMessage: string): Outcome {
  return { ok: false, kind: 'throttled', error: { errorType: 'TooManyRequestsException', errorMessage } };
}
