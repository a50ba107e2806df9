import * as z from 'zod';
import { UnsupportedTemplateError } from './errors.ts';
import type { Outcome } from './functions/environment.ts';
import type { LambdaFunction } from './functions/function.ts';
import type { Queue } from './sqs.ts';
import { type AwsCaller, callAws } from './support/aws-json.ts';
import { pause } from './support/wait.ts';
import { flag, noEffect, parseProperties, wholeNumber } from './template/properties.ts';
import type { Resource } from './template/resolve.ts';
import type { Log } from './types.ts';

const mappingProperties = z.strictObject({
  EventSourceArn: z.string(),
  FunctionName: z.string(),
  BatchSize: wholeNumber.min(1).max(10, 'batches over 10 messages are not supported here').default(10),
  Enabled: flag.default(true),
  FunctionResponseTypes: z.array(z.literal('ReportBatchItemFailures')).default([]),
  ScalingConfig: z.strictObject({ MaximumConcurrency: wholeNumber.min(2).max(1000).optional() }).optional(),
  MaximumBatchingWindowInSeconds: wholeNumber.max(0, 'a batching window is not supported here').optional(),
  Tags: noEffect,
  KmsKeyArn: noEffect,
  MetricsConfig: noEffect,
});

type Message = {
  readonly MessageId: string;
  readonly ReceiptHandle: string;
  readonly Body: string;
  readonly MD5OfBody: string;
  readonly Attributes?: Readonly<Record<string, string>>;
  readonly MessageAttributes?: Readonly<
    Record<string, { DataType: string; StringValue?: string; BinaryValue?: string }>
  >;
};

/** Batches of a mapping without a limit of its own that run side by side. */
const DEFAULT_CONCURRENCY = 5;
const WAIT_SECONDS = 20;
const ERROR_PAUSE_MS = 500;

/**
 * Moves messages from a queue to a function as Lambda's pollers do: a batch that succeeded is deleted, one that failed
 * comes back when its visibility ends, and of a partial answer only the listed messages stay.
 */
export class EventSourceMapping {
  readonly id: string;
  readonly queue: Queue;
  readonly target: LambdaFunction;
  readonly #batchSize: number;
  readonly #partial: boolean;
  readonly #caller: AwsCaller;
  readonly #log: Log;
  readonly #minuteMs: number;
  readonly #running = new Set<Promise<void>>();
  #concurrency: number;
  #enabled: boolean;
  #polling: { abort: AbortController; done: Promise<void> } | undefined;
  #freed: (() => void) | undefined;

  constructor(
    resource: Resource,
    parts: {
      queues: readonly Queue[];
      functions: readonly LambdaFunction[];
      caller: AwsCaller;
      log: Log;
      minuteMs: number;
    },
  ) {
    const properties = parseProperties(resource, mappingProperties);
    const where = `${resource.logicalId} (${resource.type})`;
    this.id = resource.ref;
    this.queue = find(where, 'queue', properties.EventSourceArn, parts.queues, ({ arn }) => [arn]);
    this.target = find(where, 'function', properties.FunctionName, parts.functions, ({ config }) => [
      config.name,
      config.arn,
    ]);
    const needed = this.target.config.timeoutMs / 1000;
    if (this.queue.visibilitySeconds < needed)
      throw new UnsupportedTemplateError(
        where,
        `the queue's visibility timeout of ${this.queue.visibilitySeconds} s is shorter than the function's timeout of ${needed} s, which Lambda refuses.`,
      );
    this.#batchSize = properties.BatchSize;
    this.#partial = properties.FunctionResponseTypes.length > 0;
    this.#concurrency = properties.ScalingConfig?.MaximumConcurrency ?? DEFAULT_CONCURRENCY;
    this.#enabled = properties.Enabled;
    this.#caller = parts.caller;
    this.#log = parts.log;
    this.#minuteMs = parts.minuteMs;
  }

  get inFlight(): number {
    return this.#running.size;
  }

  get settings(): {
    readonly enabled: boolean;
    readonly maximumConcurrency: number;
    readonly batchSize: number;
  } {
    return { enabled: this.#enabled, maximumConcurrency: this.#concurrency, batchSize: this.#batchSize };
  }

  /** Begins to poll when the mapping is enabled. */
  start(): void {
    if (!this.#enabled || this.#polling) return;
    const abort = new AbortController();
    this.#polling = { abort, done: this.#poll(abort.signal) };
  }

  /** Changes the mapping while it runs, as `UpdateEventSourceMapping` does. */
  async update(change: { enabled?: boolean; maximumConcurrency?: number }): Promise<void> {
    this.#concurrency = change.maximumConcurrency ?? this.#concurrency;
    this.#enabled = change.enabled ?? this.#enabled;
    this.#freed?.();
    if (this.#enabled) this.start();
    else await this.#stopPolling();
  }

  /** Takes no further messages and waits for the batches that run. */
  async drain(): Promise<void> {
    await this.#stopPolling();
    await Promise.all(this.#running);
  }

  async #stopPolling(): Promise<void> {
    const polling = this.#polling;
    this.#polling = undefined;
    polling?.abort.abort();
    this.#freed?.();
    await polling?.done;
  }

  async #poll(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (this.#running.size >= this.#concurrency) {
        await new Promise<void>((resolve) => {
          this.#freed = resolve;
        });
        continue;
      }
      const messages = await this.#receive(signal);
      if (messages.length === 0) continue;
      const work = this.#handle(messages).catch((error: unknown) => this.#warn(String(error)));
      this.#running.add(work);
      void work.finally(() => {
        this.#running.delete(work);
        this.#freed?.();
      });
    }
  }

  async #receive(signal: AbortSignal): Promise<readonly Message[]> {
    const input = {
      QueueUrl: this.queue.url,
      MaxNumberOfMessages: this.#batchSize,
      WaitTimeSeconds: WAIT_SECONDS,
      AttributeNames: ['All'],
      MessageAttributeNames: ['All'],
    };
    try {
      const output = await callAws(this.#caller, 'sqs', 'ReceiveMessage', input, signal);
      return (output.Messages ?? []) as Message[];
    } catch (error) {
      if (!signal.aborted) {
        this.#warn(
          `Polling ${this.queue.name} failed: ${error instanceof Error ? error.message : String(error)}`,
        );
        await pause(ERROR_PAUSE_MS, signal);
      }
      return [];
    }
  }

  async #handle(messages: readonly Message[]): Promise<void> {
    const outcome = await this.target.invoke(
      JSON.stringify({ Records: messages.map((message) => this.#record(message)) }),
    );
    const failed = outcome.ok ? this.#failures(outcome.payload, messages) : messages;
    const done = messages.filter((message) => !failed.includes(message));
    if (done.length > 0)
      await callAws(this.#caller, 'sqs', 'DeleteMessageBatch', {
        QueueUrl: this.queue.url,
        Entries: done.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle })),
      });
    if (failed.length > 0) await this.#leave(failed, outcome);
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
    if (ms < 1000) await pause(ms);
    const VisibilityTimeout = ms < 1000 ? 0 : Math.round(ms / 1000);
    await callAws(this.#caller, 'sqs', 'ChangeMessageVisibilityBatch', {
      QueueUrl: this.queue.url,
      Entries: failed.map(({ ReceiptHandle }, index) => ({
        Id: String(index),
        ReceiptHandle,
        VisibilityTimeout,
      })),
    });
  }

  /** An answer that Lambda cannot read, or that names a message of another batch, fails the whole batch. */
  #failures(payload: string, messages: readonly Message[]): readonly Message[] {
    if (!this.#partial) return [];
    const answer = JSON.parse(payload) as { batchItemFailures?: unknown } | null;
    const listed = answer?.batchItemFailures;
    if (listed === undefined || listed === null) return [];
    if (!Array.isArray(listed)) return messages;
    const ids = listed.map((item: { itemIdentifier?: unknown } | null) => item?.itemIdentifier);
    const known = ids.every((id) => messages.some(({ MessageId }) => MessageId === id));
    return known ? messages.filter(({ MessageId }) => ids.includes(MessageId)) : messages;
  }

  #record(message: Message): object {
    const attributes = Object.entries(message.MessageAttributes ?? {}).map(([name, value]) => [
      name,
      { dataType: value.DataType, stringValue: value.StringValue, binaryValue: value.BinaryValue },
    ]);
    return {
      messageId: message.MessageId,
      receiptHandle: message.ReceiptHandle,
      body: message.Body,
      attributes: message.Attributes ?? {},
      messageAttributes: Object.fromEntries(attributes),
      md5OfBody: message.MD5OfBody,
      eventSource: 'aws:sqs',
      eventSourceARN: this.queue.arn,
      awsRegion: this.#caller.region,
    };
  }

  #warn(message: string): void {
    this.#log({ level: 'warn', source: 'queue', resource: this.target.config.label, message });
  }
}

/** Whether the function's process was killed: from outside, by a crash or for its timeout. */
function wasEnded(outcome: Outcome): boolean {
  return !outcome.ok && ['Runtime.ExitError', 'Sandbox.Timedout'].includes(outcome.error.errorType);
}

/** The part that a property names. Throws `UnsupportedTemplateError` when it is not one that runs here. */
export function find<T>(
  where: string,
  what: string,
  wanted: string,
  parts: readonly T[],
  namesOf: (part: T) => readonly string[],
): T {
  const part = parts.find((candidate) => namesOf(candidate).includes(wanted));
  if (part === undefined)
    throw new UnsupportedTemplateError(
      where,
      `it names ${wanted}, and no such ${what} of this stack runs here.`,
    );
  return part;
}
