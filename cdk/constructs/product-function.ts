import { join } from 'node:path';
import { type Duration, RemovalPolicy } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import * as logs from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { FunctionName } from '../bundle.ts';

/** What every function of a stack has in common. */
export type FunctionDefaults = {
  /** Folder that holds `<name>/index.mjs` for each function. */
  readonly codeDir: string;
  readonly logLevel: string;
  /** Keep logs for long, and after the stack is gone. */
  readonly protect: boolean;
};

export type ProductFunctionProps = FunctionDefaults & {
  readonly name: FunctionName;
  readonly description: string;
  readonly timeout: Duration;
  /** Megabytes; processing power grows with it. */
  readonly memory: number;
  readonly environment: Readonly<Record<string, string>>;
  readonly reservedConcurrency?: number;
};

/** One Lambda function from its bundle, with a log group and a role of its own that start with no other right. */
export class ProductFunction extends Construct {
  readonly lambda: lambda.Function;
  readonly logGroup: logs.LogGroup;

  constructor(scope: Construct, id: string, props: ProductFunctionProps) {
    super(scope, id);
    this.logGroup = new logs.LogGroup(this, 'Logs', {
      retention: props.protect ? logs.RetentionDays.THREE_MONTHS : logs.RetentionDays.ONE_WEEK,
      removalPolicy: props.protect ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
    // The managed execution policy may write to every log group of the account; this role only to its own.
    const role = new iam.Role(this, 'Role', { assumedBy: new iam.ServicePrincipal('lambda.amazonaws.com') });
    this.logGroup.grantWrite(role);
    this.lambda = new lambda.Function(this, 'Function', {
      description: props.description,
      runtime: lambda.Runtime.NODEJS_24_X,
      architecture: lambda.Architecture.ARM_64,
      handler: 'index.handler',
      code: lambda.Code.fromAsset(join(props.codeDir, props.name)),
      role,
      logGroup: this.logGroup,
      timeout: props.timeout,
      memorySize: props.memory,
      ...(props.reservedConcurrency === undefined
        ? {}
        : { reservedConcurrentExecutions: props.reservedConcurrency }),
      environment: {
        ...props.environment,
        LOG_LEVEL: props.logLevel,
        POWERTOOLS_SERVICE_NAME: props.name,
        NODE_OPTIONS: '--enable-source-maps',
      },
    });
  }
}
