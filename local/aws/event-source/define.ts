import * as z from 'zod';
import { UnsupportedTemplateError } from '../errors.ts';
import type { LambdaFunction } from '../functions/function.ts';
import type { Queue } from '../sqs.ts';
import { find } from '../template/find.ts';
import { flag, noEffect, parseProperties, wholeNumber } from '../template/properties.ts';
import type { Resource } from '../template/resolve.ts';

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

/** Batches of a mapping without a limit of its own that run side by side. */
const DEFAULT_CONCURRENCY = 5;

export type MappingDefinition = {
  readonly id: string;
  readonly queue: Queue;
  readonly target: LambdaFunction;
  readonly batchSize: number;
  /** Whether the function names the messages that failed. */
  readonly partial: boolean;
  readonly concurrency: number;
  readonly enabled: boolean;
};

/** Connects a queue to a function as an `AWS::Lambda::EventSourceMapping` says. */
export function defineMapping(
  resource: Resource,
  queues: readonly Queue[],
  functions: readonly LambdaFunction[],
): MappingDefinition {
  const properties = parseProperties(resource, mappingProperties);
  const where = `${resource.logicalId} (${resource.type})`;
  const queue = find(where, 'queue', properties.EventSourceArn, queues, ({ arn }) => [arn]);
  const target = find(where, 'function', properties.FunctionName, functions, ({ config }) => [
    config.name,
    config.arn,
  ]);
  const needed = target.config.timeoutMs / 1000;
  if (queue.visibilitySeconds < needed)
    throw new UnsupportedTemplateError(
      where,
      `the queue's visibility timeout of ${queue.visibilitySeconds} s is shorter than the function's timeout of ${needed} s, which Lambda refuses.`,
    );
  return {
    id: resource.ref,
    queue,
    target,
    batchSize: properties.BatchSize,
    partial: properties.FunctionResponseTypes.length > 0,
    concurrency: properties.ScalingConfig?.MaximumConcurrency ?? DEFAULT_CONCURRENCY,
    enabled: properties.Enabled,
  };
}
