import { createHash } from 'node:crypto';
import type { Account } from '../types.ts';

/** What `Ref` and `Fn::GetAtt` of a resource give. */
export type Identity = { readonly ref: string; readonly attributes: Readonly<Record<string, string>> };

/** A resource as far as its names need it; `property` evaluates one property. */
export type Named = {
  readonly logicalId: string;
  property(name: string): unknown;
};

type Namer = (resource: Named, account: Account) => Identity;

/** A stable id of letters and digits: the same resource has the same id at every start. */
export function stableId(seed: string, length: number): string {
  const digits = BigInt(`0x${createHash('sha256').update(seed).digest('hex')}`).toString(36);
  return digits.slice(0, length);
}

/** The name in the template, else one made of the stack and the logical id. */
function nameOf(resource: Named, property: string, account: Account, longest = 64): string {
  const given = resource.property(property);
  if (typeof given === 'string' && given !== '') return given;
  const generated = `${account.stackName}-${resource.logicalId}`;
  if (generated.length <= longest) return generated;
  return `${generated.slice(0, longest - 9)}-${stableId(generated, 8)}`;
}

function arn(service: string, account: Account, rest: string): string {
  return `arn:aws:${service}:${account.region}:${account.accountId}:${rest}`;
}

const table: Namer = (resource, account) => {
  const name = nameOf(resource, 'TableName', account, 255);
  return { ref: name, attributes: { Arn: arn('dynamodb', account, `table/${name}`) } };
};

/** A resource whose `Ref` is its name and that has an ARN. */
function plain(service: string, kind: string, property: string): Namer {
  return (resource, account) => {
    const name = nameOf(resource, property, account);
    return { ref: name, attributes: { Arn: arn(service, account, `${kind}${name}`) } };
  };
}

/** A resource whose `Ref` is a generated id; `attribute` repeats it. */
function generated(length: number, attribute?: string): Namer {
  return (resource, account) => {
    const id = stableId(`${account.stackName}/${resource.logicalId}`, length);
    return { ref: id, attributes: attribute === undefined ? {} : { [attribute]: id } };
  };
}

const queue: Namer = (resource, account) => {
  const fifo = resource.property('FifoQueue') === true && resource.property('QueueName') === undefined;
  const name = nameOf(resource, 'QueueName', account, fifo ? 75 : 80) + (fifo ? '.fifo' : '');
  const url = `${account.gatewayUrl}/${account.accountId}/${name}`;
  return { ref: url, attributes: { Arn: arn('sqs', account, name), QueueName: name, QueueUrl: url } };
};

const api: Namer = (resource, account) => {
  const id = stableId(`${account.stackName}/${resource.logicalId}`, 10);
  return { ref: id, attributes: { ApiId: id, ApiEndpoint: account.apiUrl } };
};

const userPool: Namer = (resource, account) => {
  const id = `${account.region}_${stableId(`${account.stackName}/${resource.logicalId}`, 9)}`;
  const attributes = {
    Arn: arn('cognito-idp', account, `userpool/${id}`),
    UserPoolId: id,
    ProviderName: `cognito-idp.${account.region}.amazonaws.com/${id}`,
    ProviderURL: `${account.gatewayUrl}/${id}`,
  };
  return { ref: id, attributes };
};

const secret: Namer = (resource, account) => {
  const name = nameOf(resource, 'Name', account);
  const id = arn('secretsmanager', account, `secret:${name}-${stableId(name, 6)}`);
  return { ref: id, attributes: { Id: id } };
};

const role: Namer = (resource, account) => {
  const name = nameOf(resource, 'RoleName', account);
  return {
    ref: name,
    attributes: { Arn: `arn:aws:iam::${account.accountId}:role/${name}`, RoleId: stableId(name, 20) },
  };
};

const managedPolicy: Namer = (resource, account) => {
  const id = `arn:aws:iam::${account.accountId}:policy/${nameOf(resource, 'ManagedPolicyName', account)}`;
  return { ref: id, attributes: { PolicyArn: id } };
};

const logGroup: Namer = (resource, account) => {
  const name = nameOf(resource, 'LogGroupName', account, 255);
  return { ref: name, attributes: { Arn: arn('logs', account, `log-group:${name}:*`) } };
};

const eventBus: Namer = (resource, account) => {
  const name = nameOf(resource, 'Name', account);
  return { ref: name, attributes: { Arn: arn('events', account, `event-bus/${name}`), Name: name } };
};

const rule: Namer = (resource, account) => {
  const name = nameOf(resource, 'Name', account);
  return { ref: name, attributes: { Arn: arn('events', account, `rule/${name}`) } };
};

const schedule: Namer = (resource, account) => {
  const name = nameOf(resource, 'Name', account);
  const group = resource.property('GroupName');
  return {
    ref: name,
    attributes: {
      Arn: arn('scheduler', account, `schedule/${typeof group === 'string' ? group : 'default'}/${name}`),
    },
  };
};

const topic: Namer = (resource, account) => {
  const name = nameOf(resource, 'TopicName', account);
  const id = arn('sns', account, name);
  return { ref: id, attributes: { TopicArn: id, TopicName: name } };
};

/** Names of the types that run. */
const RUN: Readonly<Record<string, Namer>> = {
  'AWS::DynamoDB::Table': table,
  'AWS::DynamoDB::GlobalTable': table,
  'AWS::SQS::Queue': queue,
  'AWS::Lambda::Function': plain('lambda', 'function:', 'FunctionName'),
  'AWS::Lambda::EventSourceMapping': generated(32, 'Id'),
  'AWS::Lambda::EventInvokeConfig': generated(12),
  'AWS::Events::EventBus': eventBus,
  'AWS::Events::Rule': rule,
  'AWS::Scheduler::Schedule': schedule,
  'AWS::ApiGatewayV2::Api': api,
  'AWS::ApiGatewayV2::Stage': (resource) => ({ ref: String(resource.property('StageName')), attributes: {} }),
  'AWS::ApiGatewayV2::Route': generated(7, 'RouteId'),
  'AWS::ApiGatewayV2::Integration': generated(7, 'IntegrationId'),
  'AWS::ApiGatewayV2::Authorizer': generated(6, 'AuthorizerId'),
  'AWS::Cognito::UserPool': userPool,
  'AWS::Cognito::UserPoolClient': generated(26, 'ClientId'),
  'AWS::SecretsManager::Secret': secret,
};

/**
 * Names of the types that need nothing to run on one machine: identities and policies (which no one checks here yet),
 * log retention, and what watches.
 */
const ACCEPTED: Readonly<Record<string, Namer>> = {
  'AWS::CDK::Metadata': generated(8),
  'AWS::IAM::Role': role,
  'AWS::IAM::Policy': (resource, account) => ({
    ref: nameOf(resource, 'PolicyName', account),
    attributes: {},
  }),
  'AWS::IAM::ManagedPolicy': managedPolicy,
  'AWS::Lambda::Permission': generated(12),
  'AWS::SQS::QueuePolicy': generated(12),
  'AWS::SNS::Topic': topic,
  'AWS::SNS::TopicPolicy': generated(12),
  'AWS::SNS::Subscription': topic,
  'AWS::Logs::LogGroup': logGroup,
  'AWS::Logs::MetricFilter': generated(12),
  'AWS::Logs::QueryDefinition': generated(12, 'QueryDefinitionId'),
  'AWS::CloudWatch::Alarm': plain('cloudwatch', 'alarm:', 'AlarmName'),
  'AWS::CloudWatch::CompositeAlarm': plain('cloudwatch', 'alarm:', 'AlarmName'),
  'AWS::CloudWatch::Dashboard': plain('cloudwatch', 'dashboard/', 'DashboardName'),
  'AWS::Scheduler::ScheduleGroup': plain('scheduler', 'schedule-group/', 'Name'),
  'AWS::Cognito::UserPoolGroup': (resource) => ({
    ref: String(resource.property('GroupName')),
    attributes: {},
  }),
  'AWS::Cognito::UserPoolDomain': (resource) => ({
    ref: String(resource.property('Domain')),
    attributes: {},
  }),
  'AWS::Cognito::UserPoolResourceServer': (resource) => ({
    ref: String(resource.property('Identifier')),
    attributes: {},
  }),
};

/** How a type's resources are named; nothing for a type that the embedded AWS does not know. */
export function namerOf(type: string): Namer | undefined {
  return RUN[type] ?? ACCEPTED[type];
}

/** Whether resources of this type do something here. */
export function runs(type: string): boolean {
  return type in RUN;
}
