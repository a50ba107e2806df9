import { Duration, Stack } from 'aws-cdk-lib';
import * as apigateway from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpJwtAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2-authorizers';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import type { EventBus } from 'aws-cdk-lib/aws-events';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { ConversationTable } from './conversation-table.ts';
import type { Identity } from './identity.ts';
import type { ModelSecret } from './model-secret.ts';
import { type FunctionDefaults, ProductFunction } from './product-function.ts';

export type HttpApiProps = {
  readonly defaults: FunctionDefaults;
  readonly environment: Readonly<Record<string, string>>;
  readonly identity: Identity;
  /** Origins of web pages that may call the API; none leaves cross-origin calls off. */
  readonly corsOrigins: readonly string[];
  readonly table: ConversationTable;
  readonly queue: Queue;
  readonly bus: EventBus;
  readonly modelSecret: ModelSecret;
};

const { GET, POST, PUT, PATCH, DELETE } = apigateway.HttpMethod;
const CORS_METHODS = [
  apigateway.CorsHttpMethod.GET,
  apigateway.CorsHttpMethod.POST,
  apigateway.CorsHttpMethod.PUT,
  apigateway.CorsHttpMethod.PATCH,
  apigateway.CorsHttpMethod.DELETE,
];

/** The HTTP API in front of the api function; every route but two needs a token of the identity's issuer. */
export class HttpApi extends Construct {
  /** Open, because a probe and a client generator have no token; they tell nothing about conversations. */
  static readonly PUBLIC_PATHS: readonly string[] = ['/health', '/openapi.json'];

  readonly api: apigateway.HttpApi;
  readonly function: ProductFunction;

  constructor(scope: Construct, id: string, props: HttpApiProps) {
    super(scope, id);
    this.function = new ProductFunction(this, 'Handler', {
      ...props.defaults,
      name: 'api',
      description: 'Answers the HTTP API of conversations.',
      // The longest that an HTTP API waits; what may take longer is queued.
      timeout: Duration.seconds(29),
      memory: 512,
      environment: {
        ...props.environment,
        QUEUE_URL: props.queue.queueUrl,
        EVENT_BUS_NAME: props.bus.eventBusName,
        MODEL_SECRET_ARN: props.modelSecret.secret.secretArn,
      },
    });
    this.grant(props);
    this.api = new apigateway.HttpApi(this, 'Api', {
      apiName: Stack.of(this).stackName,
      description: 'Conversation compaction',
      ...(props.corsOrigins.length === 0 ? {} : { corsPreflight: corsOptions(props.corsOrigins) }),
    });
    this.addRoutes(props.identity);
  }

  private addRoutes(identity: Identity): void {
    const integration = new HttpLambdaIntegration('Integration', this.function.lambda, {
      scopePermissionToRoute: false,
    });
    const authorizer = new HttpJwtAuthorizer('Token', identity.issuer, { jwtAudience: identity.audience });
    // Methods by name and not ANY: that would put preflight requests, which carry no token, before the authorizer.
    this.api.addRoutes({
      path: '/{proxy+}',
      methods: [GET, POST, PUT, PATCH, DELETE],
      integration,
      authorizer,
    });
    for (const path of HttpApi.PUBLIC_PATHS) this.api.addRoutes({ path, methods: [GET], integration });
  }

  private grant(props: HttpApiProps): void {
    const { lambda } = this.function;
    props.table.grant(lambda, [
      'GetItem',
      'BatchGetItem',
      'Query',
      'ConditionCheckItem',
      'PutItem',
      'UpdateItem',
      'BatchWriteItem',
    ]);
    props.queue.grantSendMessages(lambda);
    props.bus.grantPutEventsTo(lambda);
    props.modelSecret.secret.grantRead(lambda);
  }
}

function corsOptions(origins: readonly string[]): apigateway.CorsPreflightOptions {
  return {
    allowOrigins: [...origins],
    allowMethods: CORS_METHODS,
    allowHeaders: ['authorization', 'content-type', 'idempotency-key', 'prefer'],
    exposeHeaders: ['location', 'retry-after'],
    maxAge: Duration.hours(1),
  };
}
