import type { Outcome } from '../functions/environment.ts';
import type { LambdaFunction } from '../functions/function.ts';
import type { Queue } from '../sqs.ts';
import { type AwsCaller, callAws } from '../support/aws-json.ts';
import { pause } from '../support/wait.ts';
import type { Log } from '../types.ts';
import { failedMessages, type Message, toEvent } from './batch.ts';
import type { MappingDefinition } from './define.ts';

/** The longest that SQS lets a poll wait. */
const WAIT_SECONDS = 20;
const ERROR_PAUSE_MS = 500;

type Settings = { readonly enabled: boolean; readonly maximumConcurrency: number };

/**
 * Moves messages from a queue to a function as Lambda's pollers do: a batch that succeeded is deleted, one that failed
 * comes back when its visibility ends, and of a partial answer only the listed messages stay.
 */
export class EventSourceMapping {
  readonly id: string;
  readonly queue: Queue;
  readonly target: LambdaFunction;
  readonly batchSize: number;
  readonly #partial: boolean;
  readonly #caller: AwsCaller;
  readonly #log: Log;
  readonly #minuteMs: number;
  readonly #running = new Set<Promise<void>>();
  readonly #ending = new AbortController();
  #settings: Settings;
  #polling: Promise<void> | undefined;
  #wake: (() => void) | undefined;

  constructor(definition: MappingDefinition, parts: { caller: AwsCaller; log: Log; minuteMs: number }) {
    this.id = definition.id;
    this.queue = definition.queue;
    this.target = definition.target;
    this.batchSize = definition.batchSize;
    this.#partial = definition.partial;
    this.#settings = { enabled: definition.enabled, maximumConcurrency: definition.concurrency };
    this.#caller = parts.caller;
    this.#log = parts.log;
    this.#minuteMs = parts.minuteMs;
  }

  /** Batches that are being handled. */
  get inFlight(): number {
    return this.#running.size;
  }

  get settings(): Settings {
    return this.#settings;
  }

  /** Polls from here on, while the mapping is enabled. */
  start(): void {
    this.#polling ??= this.#poll(this.#ending.signal);
  }

  /** Changes the mapping while it runs, as `UpdateEventSourceMapping` does. */
  update(change: Partial<Settings>): void {
    this.#settings = { ...this.#settings, ...change };
    this.#wake?.();
  }

  /** Takes no further messages and waits for the batches that run. */
  async drain(): Promise<void> {
    this.#ending.abort();
    this.#wake?.();
    await this.#polling;
    await Promise.all(this.#running);
  }

  get #mayTakeMore(): boolean {
    const { enabled, maximumConcurrency } = this.#settings;
    return enabled && !this.#ending.signal.aborted && this.#running.size < maximumConcurrency;
  }

  async #poll(ending: AbortSignal): Promise<void> {
    while (!ending.aborted) {
      if (!this.#mayTakeMore) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        continue;
      }
      const messages = await this.#receive(ending);
      if (messages.length === 0) continue;
      // The mapping may have been disabled or narrowed while the poll waited
      this.#begin(this.#mayTakeMore ? this.#handle(messages) : this.#show(messages, 0));
    }
  }

  #begin(work: Promise<void>): void {
    const noted = work.catch((error: unknown) => this.#warn(String(error)));
    this.#running.add(noted);
    void noted.finally(() => {
      this.#running.delete(noted);
      this.#wake?.();
    });
  }

  async #receive(ending: AbortSignal): Promise<readonly Message[]> {
    const input = {
      QueueUrl: this.queue.url,
      MaxNumberOfMessages: this.batchSize,
      WaitTimeSeconds: WAIT_SECONDS,
      AttributeNames: ['All'],
      MessageAttributeNames: ['All'],
    };
    try {
      const output = await callAws(this.#caller, 'sqs', 'ReceiveMessage', input, ending);
      return (output.Messages ?? []) as Message[];
    } catch (error) {
      if (!ending.aborted) {
        this.#warn(
          `Polling ${this.queue.name} failed: ${error instanceof Error ? error.message : String(error)}`,
        );
        await pause(ERROR_PAUSE_MS, ending);
      }
      return [];
    }
  }

  async #handle(messages: readonly Message[]): Promise<void> {
    const outcome = await this.target.invoke(toEvent(messages, this.queue.arn, this.#caller.region));
    const failed = this.#failed(outcome, messages);
    const done = messages.filter((message) => !failed.includes(message));
    if (done.length > 0)
      await callAws(this.#caller, 'sqs', 'DeleteMessageBatch', {
        QueueUrl: this.queue.url,
        Entries: done.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle })),
      });
    if (failed.length > 0) await this.#leave(failed, outcome);
  }

  #failed(outcome: Outcome, messages: readonly Message[]): readonly Message[] {
    if (!outcome.ok) return messages;
    return this.#partial ? failedMessages(outcome.payload, messages) : [];
  }

  /**
   * Failed messages wait for the end of their visibility. In a time lapse that end is brought forward: for those of an
   * ended process to now, because nothing works on them any more.
   */
  async #leave(failed: readonly Message[], outcome: Outcome): Promise<void> {
    const isTimeLapse = this.#minuteMs < 60_000;
    const ms = isTimeLapse && wasEnded(outcome) ? 0 : (this.queue.visibilitySeconds * this.#minuteMs) / 60;
    const why = outcome.ok ? 'failed' : outcome.error.errorType;
    this.#warn(
      `${failed.length} message(s) of ${this.queue.name} stay in the queue (${why}), visible again in about ${ms / 1000} s`,
    );
    if (!isTimeLapse) return;
    // A queue counts in whole seconds; a shorter wait is spent here.
    if (ms < 1000) await pause(ms, this.#ending.signal);
    await this.#show(failed, ms < 1000 ? 0 : Math.round(ms / 1000));
  }

  /** Lets other consumers see messages after so many seconds. */
  async #show(messages: readonly Message[], seconds: number): Promise<void> {
    await callAws(this.#caller, 'sqs', 'ChangeMessageVisibilityBatch', {
      QueueUrl: this.queue.url,
      Entries: messages.map(({ ReceiptHandle }, index) => ({
        Id: String(index),
        ReceiptHandle,
        VisibilityTimeout: seconds,
      })),
    });
  }

  #warn(message: string): void {
    this.#log({ level: 'warn', source: 'queue', resource: this.target.config.label, message });
  }
}

/** Whether the function's process was killed: from outside, by a crash or for its timeout. */
function wasEnded(outcome: Outcome): boolean {
  return !outcome.ok && ['Runtime.ExitError', 'Sandbox.Timedout'].includes(outcome.error.errorType);
}
