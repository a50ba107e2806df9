import { pause } from '../support/wait.ts';
import type { Log } from '../types.ts';
import type { LambdaFunction } from './function.ts';

export type RetryPolicy = {
  /** Attempts after the first, 0–185. */
  readonly attempts: number;
  /** How old an event may get, in seconds. */
  readonly maxAgeSeconds: number;
};

/** Lambda's own: two more attempts, a minute and two minutes later, within six hours. */
const LAMBDA_RETRIES: RetryPolicy = { attempts: 2, maxAgeSeconds: 21_600 };

/** Asynchronous invocations: accepted at once, retried as Lambda does, given up with a log line or a dead letter. */
export class AsyncInvoker {
  readonly #minuteMs: number;
  readonly #log: Log;
  readonly #sendToQueue: (queueArn: string, body: string) => Promise<void>;
  readonly #stopping = new AbortController();
  readonly #running = new Set<Promise<void>>();

  constructor(options: {
    minuteMs: number;
    log: Log;
    sendToQueue: (queueArn: string, body: string) => Promise<void>;
  }) {
    this.#minuteMs = options.minuteMs;
    this.#log = options.log;
    this.#sendToQueue = options.sendToQueue;
  }

  /** Events that were accepted and are neither handled nor given up. */
  get pending(): number {
    return this.#running.size;
  }

  /** Takes an event for a function; never rejects and does not wait. */
  accept(target: LambdaFunction, payload: string, retries: Partial<RetryPolicy> = {}): void {
    const work = this.#deliver(target, payload, { ...LAMBDA_RETRIES, ...retries }).catch((error: unknown) =>
      this.#log({ level: 'error', source: 'runtime', message: String(error) }),
    );
    this.#running.add(work);
    void work.finally(() => this.#running.delete(work));
  }

  /** Starts no further retries and waits for the attempts that run. */
  async drain(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#running);
  }

  async #deliver(target: LambdaFunction, payload: string, retries: RetryPolicy): Promise<void> {
    const began = performance.now();
    const maxAgeMs = (retries.maxAgeSeconds / 60) * this.#minuteMs;
    for (let failures = 0, throttles = 0; ; ) {
      const outcome = await target.invoke(payload);
      if (outcome.ok) return;
      // Throttled events stay in Lambda's queue until they are too old; only the function's own failures are counted.
      const isThrottled = outcome.kind === 'throttled';
      const waitMs = isThrottled ? this.#backOff(++throttles) : ++failures * this.#minuteMs;
      const tooOld = performance.now() - began + waitMs > maxAgeMs;
      if (failures > retries.attempts || tooOld || this.#stopping.signal.aborted)
        return this.#giveUp(target, payload, outcome.error.errorMessage);
      await pause(waitMs, this.#stopping.signal);
      if (this.#stopping.signal.aborted) return this.#giveUp(target, payload, outcome.error.errorMessage);
    }
  }

  /** From one second to five minutes, in the schedule's time. */
  #backOff(throttles: number): number {
    return Math.min(2 ** (throttles - 1) / 60, 5) * this.#minuteMs;
  }

  async #giveUp(target: LambdaFunction, payload: string, reason: string): Promise<void> {
    const { label, deadLetterArn } = target.config;
    this.#log({
      level: 'error',
      source: 'runtime',
      resource: label,
      message: `An event for ${label} is given up: ${reason}${deadLetterArn ? '; it is in the dead-letter queue' : ''}`,
    });
    if (deadLetterArn !== undefined) await this.#sendToQueue(deadLetterArn, payload);
  }
}
