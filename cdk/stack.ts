import { CfnOutput, Stack, type StackProps, Tags } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { CompactionFunction } from './constructs/compaction-function.ts';
import { CompactionQueue } from './constructs/compaction-queue.ts';
import { ConversationTable } from './constructs/conversation-table.ts';
import { ConversationBus } from './constructs/event-bus.ts';
import { HttpApi } from './constructs/http-api.ts';
import { Identity } from './constructs/identity.ts';
import { ModelSecret } from './constructs/model-secret.ts';
import type { FunctionDefaults } from './constructs/product-function.ts';
import { ScheduledScanner } from './constructs/scheduled-scanner.ts';
import { Trigger } from './constructs/trigger.ts';
import type { StageConfig } from './stages.ts';

export type ConversationCompactionProps = StackProps & {
  readonly config: StageConfig;
  /** Folder of the functions' bundles, one subfolder each. */
  readonly codeDir: string;
};

/**
 * The whole product. Capabilities are public so that what watches them (a `Monitoring` construct with dashboard and
 * alarms) takes them as its props and is added last, in `constructor`.
 */
export class ConversationCompactionStack extends Stack {
  readonly table: ConversationTable;
  readonly queue: CompactionQueue;
  readonly bus: ConversationBus;
  readonly scanner: ScheduledScanner;
  readonly compactor: CompactionFunction;
  readonly trigger: Trigger;
  readonly http: HttpApi;

  constructor(scope: Construct, id: string, props: ConversationCompactionProps) {
    super(scope, id, {
      description: 'Keeps long conversations inside the context window of their model.',
      ...props,
    });
    const { config } = props;
    const protect = config.stage === 'prod';
    const defaults: FunctionDefaults = { codeDir: props.codeDir, logLevel: config.logLevel, protect };

    this.table = new ConversationTable(this, 'ConversationTable', { protect });
    this.queue = new CompactionQueue(this, 'CompactionQueue', {
      workerTimeout: CompactionFunction.TIMEOUT,
      maxReceiveCount: CompactionFunction.maxReceiveCount(config.compactorConcurrency),
    });
    this.bus = new ConversationBus(this, 'ConversationBus');
    const modelSecret = new ModelSecret(this, 'ModelSecret', { existingArn: config.modelSecretArn, protect });
    const identity = new Identity(this, 'Identity', {
      issuer: config.jwtIssuer,
      audience: config.jwtAudience,
      adminGroup: config.adminGroup,
      protect,
    });

    const { table } = this;
    const { queue } = this.queue;
    const { bus } = this.bus;
    const environment = this.environmentOf(config);
    this.scanner = new ScheduledScanner(this, 'ScheduledScanner', { defaults, environment, queue, table });
    this.compactor = new CompactionFunction(this, 'CompactionFunction', {
      defaults,
      environment,
      queue,
      table,
      bus,
      modelSecret,
      concurrency: config.compactorConcurrency,
      reserve: config.reserveConcurrency,
    });
    this.trigger = new Trigger(this, 'EventTrigger', { defaults, environment, bus, queue, table });
    this.http = new HttpApi(this, 'HttpApi', {
      defaults,
      environment: {
        ...environment,
        ADMIN_GROUP: config.adminGroup,
        CORS_ORIGINS: config.corsOrigins.join(','),
      },
      identity,
      corsOrigins: config.corsOrigins,
      table,
      queue,
      bus,
      modelSecret,
    });
    Tags.of(this).add('product', 'conversation-compaction');
    Tags.of(this).add('stage', config.stage);
    this.addOutputs();
  }

  /** What every function reads; each construct adds the queue, the bus and the key that its function works with. */
  private environmentOf(config: StageConfig): Record<string, string> {
    return {
      TABLE_NAME: this.table.table.tableName,
      PRESSURE_INDEX: ConversationTable.PRESSURE_INDEX,
      MODEL_PROVIDER: config.modelProvider,
      MODEL_ID: config.modelId,
      MODEL_BASE_URL: config.modelBaseUrl,
    };
  }

  private addOutputs(): void {
    new CfnOutput(this, 'ApiUrl', { value: this.http.api.apiEndpoint });
    new CfnOutput(this, 'TableName', { value: this.table.table.tableName });
    new CfnOutput(this, 'QueueUrl', { value: this.queue.queue.queueUrl });
    new CfnOutput(this, 'EventBusName', { value: this.bus.bus.eventBusName });
  }
}
