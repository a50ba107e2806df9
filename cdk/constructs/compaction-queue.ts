import { Duration } from 'aws-cdk-lib';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';

export type CompactionQueueProps = {
  /** Timeout of the function that works on the messages. */
  readonly workerTimeout: Duration;
  /** Receives before a message goes to the dead-letter queue; at least 5. */
  readonly maxReceiveCount: number;
};

/** Compactions to be done, and where those go that kept failing. */
export class CompactionQueue extends Construct {
  readonly queue: sqs.Queue;
  readonly deadLetterQueue: sqs.Queue;

  constructor(scope: Construct, id: string, props: CompactionQueueProps) {
    super(scope, id);
    this.deadLetterQueue = new sqs.Queue(this, 'DeadLetterQueue', {
      // The longest that SQS keeps anything: time to read the alarm, repair and redrive.
      retentionPeriod: Duration.days(14),
      encryption: sqs.QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
    });
    this.queue = new sqs.Queue(this, 'Queue', {
      // Six times the worker's timeout, or a throttled poll hands a message out again while it is being worked on.
      visibilityTimeout: Duration.seconds(props.workerTimeout.toSeconds() * 6),
      encryption: sqs.QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      deadLetterQueue: { queue: this.deadLetterQueue, maxReceiveCount: props.maxReceiveCount },
    });
  }
}
