import { Duration } from 'aws-cdk-lib';
import { Schedule, ScheduleExpression } from 'aws-cdk-lib/aws-scheduler';
import { LambdaInvoke } from 'aws-cdk-lib/aws-scheduler-targets';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { ConversationTable } from './conversation-table.ts';
import { type FunctionDefaults, ProductFunction } from './product-function.ts';

export type ScheduledScannerProps = {
  readonly defaults: FunctionDefaults;
  readonly environment: Readonly<Record<string, string>>;
  readonly queue: Queue;
  readonly table: ConversationTable;
};

/** Looks every minute whether a scan is due; the interval itself is a setting, so it changes without a deployment. */
export class ScheduledScanner extends Construct {
  readonly function: ProductFunction;

  constructor(scope: Construct, id: string, props: ScheduledScannerProps) {
    super(scope, id);
    this.function = new ProductFunction(this, 'Scanner', {
      ...props.defaults,
      name: 'scanner',
      description: 'Finds conversations under context pressure and queues their compaction.',
      // The next tick is a minute away and goes on where this one stopped.
      timeout: Duration.seconds(55),
      memory: 256,
      environment: { ...props.environment, QUEUE_URL: props.queue.queueUrl },
    });
    const { lambda } = this.function;
    props.table.grant(lambda, ['GetItem', 'Query', 'UpdateItem']);
    props.table.grantPressure(lambda);
    props.queue.grantSendMessages(lambda);
    new Schedule(this, 'Tick', {
      description: 'Asks the scanner whether a scan is due.',
      schedule: ScheduleExpression.rate(Duration.minutes(1)),
      // A late or repeated tick is worth nothing: the next one does the same work.
      target: new LambdaInvoke(lambda, { retryAttempts: 0, maxEventAge: Duration.minutes(1) }),
    });
  }
}
