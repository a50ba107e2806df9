import { mkdirSync } from 'node:fs';
import * as z from 'zod';
import { EmbeddedAwsError } from './errors.ts';
import { type AwsCaller, callAws } from './support/aws-json.ts';
import { flag, noEffect, parseProperties, wholeNumber } from './template/properties.ts';
import type { Resource } from './template/resolve.ts';

const queueProperties = z.strictObject({
  QueueName: z.string().optional(),
  VisibilityTimeout: wholeNumber.optional(),
  DelaySeconds: wholeNumber.optional(),
  MaximumMessageSize: wholeNumber.optional(),
  MessageRetentionPeriod: wholeNumber.optional(),
  ReceiveMessageWaitTimeSeconds: wholeNumber.optional(),
  FifoQueue: flag.optional(),
  ContentBasedDeduplication: flag.optional(),
  RedrivePolicy: z
    .strictObject({ deadLetterTargetArn: z.string(), maxReceiveCount: wholeNumber.min(1) })
    .optional(),
  RedriveAllowPolicy: noEffect,
  SqsManagedSseEnabled: noEffect,
  KmsMasterKeyId: noEffect,
  KmsDataKeyReusePeriodSeconds: noEffect,
  Tags: noEffect,
});

export type Sqs = { readonly endpoint: string; stop(): Promise<void> };

/** The account that the engine puts into every queue's ARN. */
export const ENGINE_ACCOUNT = '000000000000';

type Engine = typeof import('fauxqs');
type Stores = NonNullable<NonNullable<Parameters<Engine['buildApp']>[0]>['stores']>;

/**
 * Starts the queue engine on the loopback interface. Its own start function listens on every interface, where anyone in
 * the network could read the queues, so its server is built here; `dataDir` keeps the messages.
 */
export async function startSqs(options: { region: string; dataDir?: string }): Promise<Sqs> {
  const { buildApp } = await import('fauxqs');
  const persistence = options.dataDir === undefined ? undefined : await openStores(options.dataDir);
  const app = buildApp({
    logger: false,
    host: '127.0.0.1',
    defaultRegion: options.region,
    ...(persistence ? { stores: persistence.stores } : {}),
  });
  if (persistence) app.addHook('preClose', async () => persistence.close());
  const endpoint = await app.listen({ port: 0, host: '127.0.0.1' });
  return { endpoint, stop: async () => void (await app.close()) };
}

/** Messages on disk; all of it by the engine's own modules, which its package does not export. */
async function openStores(dataDir: string): Promise<{ stores: Stores; close: () => void }> {
  mkdirSync(dataDir, { recursive: true });
  const from = (file: string) => import(new URL(file, import.meta.resolve('fauxqs')).href);
  try {
    const [{ SqsStore }, { SnsStore }, { S3Store }, { PersistenceManager }] = await Promise.all(
      ['./sqs/sqsStore.js', './sns/snsStore.js', './s3/s3Store.js', './persistence.js'].map(from),
    );
    const stores = { sqsStore: new SqsStore(), snsStore: new SnsStore(), s3Store: new S3Store() };
    const manager = new PersistenceManager(dataDir);
    // In version 2.4.1 it violates its own schema, so a visibility of 0 would fail. The file may say that such a message
    // is in flight: everything in flight is released when the file is read.
    manager.updateMessageReady = () => undefined;
    // Loading comes first: a store that persists while it loads would delete what it has not read yet.
    manager.loadSqsAndSns(stores.sqsStore, stores.snsStore);
    stores.sqsStore.persistence = manager;
    for (const queue of stores.sqsStore.allQueues()) {
      queue.persistence = manager;
      releaseMessages(queue);
    }
    return { stores, close: () => manager.close() };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new EmbeddedAwsError('engine_failed', `The queues in ${dataDir} cannot be opened: ${reason}.`, {
      cause,
    });
  }
}

/** No consumer survived the last run, so what was in flight then is delivered again at once. */
function releaseMessages(queue: {
  inflightMessages: ReadonlyMap<string, unknown>;
  changeVisibility(receiptHandle: string, seconds: number): void;
}): void {
  for (const receiptHandle of [...queue.inflightMessages.keys()]) queue.changeVisibility(receiptHandle, 0);
}

/** What a queue's consumers need to know. */
export type Queue = {
  readonly logicalId: string;
  readonly name: string;
  readonly arn: string;
  readonly url: string;
  readonly visibilitySeconds: number;
};

/** Creates the queues of a template with their attributes and redrive policies. */
export async function createQueues(
  caller: AwsCaller,
  resources: readonly Resource[],
): Promise<readonly Queue[]> {
  const queues = resources.map((resource) => {
    const properties = parseProperties(resource, queueProperties);
    const { QueueName: name = '', Arn: arn = '' } = resource.attributes;
    return { resource, properties, name, arn };
  });
  for (const { name, properties } of queues)
    await callAws(caller, 'sqs', 'CreateQueue', {
      QueueName: name,
      ...(properties.FifoQueue ? { Attributes: { FifoQueue: 'true' } } : {}),
    });
  // A dead-letter queue has to exist before a policy names it.
  for (const { resource, properties } of queues)
    await callAws(caller, 'sqs', 'SetQueueAttributes', {
      QueueUrl: resource.ref,
      Attributes: attributes(properties),
    });
  return queues.map(({ resource, properties, name, arn }) => ({
    logicalId: resource.logicalId,
    name,
    arn,
    url: resource.ref,
    visibilitySeconds: properties.VisibilityTimeout ?? 30,
  }));
}

/** Every attribute is written, so that one removed from the template is back at AWS's default. */
function attributes(properties: z.infer<typeof queueProperties>): Record<string, string> {
  const { RedrivePolicy: redrive } = properties;
  return {
    VisibilityTimeout: String(properties.VisibilityTimeout ?? 30),
    DelaySeconds: String(properties.DelaySeconds ?? 0),
    MaximumMessageSize: String(properties.MaximumMessageSize ?? 1_048_576),
    MessageRetentionPeriod: String(properties.MessageRetentionPeriod ?? 345_600),
    ReceiveMessageWaitTimeSeconds: String(properties.ReceiveMessageWaitTimeSeconds ?? 0),
    ...(properties.FifoQueue && properties.ContentBasedDeduplication !== undefined
      ? { ContentBasedDeduplication: String(properties.ContentBasedDeduplication) }
      : {}),
    RedrivePolicy: redrive
      ? JSON.stringify({ ...redrive, deadLetterTargetArn: engineArn(redrive.deadLetterTargetArn) })
      : '',
  };
}

/** The engine knows one account only. */
function engineArn(arn: string): string {
  const parts = arn.split(':');
  parts[4] = ENGINE_ACCOUNT;
  return parts.join(':');
}
