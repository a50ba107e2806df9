import { Duration } from 'aws-cdk-lib';
import type { EventBus } from 'aws-cdk-lib/aws-events';
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { MAX_RECEIVES, SUMMARY_TIMEOUT_MS } from '../../lib/settings/defaults.ts';
import type { ConversationTable } from './conversation-table.ts';
import type { ModelSecret } from './model-secret.ts';
import { type FunctionDefaults, ProductFunction } from './product-function.ts';

export type CompactionFunctionProps = {
  readonly defaults: FunctionDefaults;
  readonly environment: Readonly<Record<string, string>>;
  readonly queue: Queue;
  readonly table: ConversationTable;
  readonly bus: EventBus;
  readonly modelSecret: ModelSecret;
  /** Compactions at the same time, 1 to 1000. */
  readonly concurrency: number;
  /** Hold this concurrency in reserve for the function, which makes it the semaphore. */
  readonly reserve: boolean;
};

/** The worker on the queue: one message, one compaction, one model budget. */
export class CompactionFunction extends Construct {
  /** The models' budget, and 30 s for reading, applying and reporting. */
  static readonly TIMEOUT = Duration.millis(SUMMARY_TIMEOUT_MS + 30_000);

  /** The mapping cannot go under 2, so with 1 reserved some polls are throttled; they must not dead-letter a message. */
  static maxReceiveCount(concurrency: number): number {
    return concurrency === 1 ? 4 * MAX_RECEIVES : MAX_RECEIVES;
  }

  readonly function: ProductFunction;

  constructor(scope: Construct, id: string, props: CompactionFunctionProps) {
    super(scope, id);
    this.function = new ProductFunction(this, 'Compactor', {
      ...props.defaults,
      name: 'compactor',
      description: 'Summarizes the older part of one conversation per message of the queue.',
      timeout: CompactionFunction.TIMEOUT,
      memory: 512,
      environment: {
        ...props.environment,
        EVENT_BUS_NAME: props.bus.eventBusName,
        MODEL_SECRET_ARN: props.modelSecret.secret.secretArn,
      },
      ...(props.reserve ? { reservedConcurrency: props.concurrency } : {}),
    });
    const { lambda } = this.function;
    lambda.addEventSource(
      new SqsEventSource(props.queue, {
        batchSize: 1,
        maxConcurrency: Math.max(2, props.concurrency),
        reportBatchItemFailures: true,
      }),
    );
    props.table.grant(lambda, [
      'GetItem',
      'BatchGetItem',
      'Query',
      'ConditionCheckItem',
      'PutItem',
      'UpdateItem',
      'BatchWriteItem',
    ]);
    props.bus.grantPutEventsTo(lambda);
    props.modelSecret.secret.grantRead(lambda);
  }
}
