import { Duration } from 'aws-cdk-lib';
import { type EventBus, Rule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { ConversationTable } from './conversation-table.ts';
import { type FunctionDefaults, ProductFunction } from './product-function.ts';

export type TriggerProps = {
  readonly defaults: FunctionDefaults;
  readonly environment: Readonly<Record<string, string>>;
  readonly bus: EventBus;
  readonly queue: Queue;
  readonly table: ConversationTable;
};

/** Turns events of the bus into compactions on the queue. */
export class Trigger extends Construct {
  readonly function: ProductFunction;

  constructor(scope: Construct, id: string, props: TriggerProps) {
    super(scope, id);
    this.function = new ProductFunction(this, 'Trigger', {
      ...props.defaults,
      name: 'trigger',
      description: 'Checks events about conversations and queues the compactions that they ask for.',
      timeout: Duration.seconds(30),
      memory: 256,
      environment: { ...props.environment, QUEUE_URL: props.queue.queueUrl },
    });
    const { lambda } = this.function;
    props.table.grant(lambda, ['GetItem', 'Query']);
    props.queue.grantSendMessages(lambda);
    new Rule(this, 'Requests', {
      description: 'Events that may lead to a compaction, whoever sends them.',
      eventBus: props.bus,
      eventPattern: { detailType: ['response.generation', 'compaction.request'] },
      targets: [new LambdaFunction(lambda)],
    });
  }
}
