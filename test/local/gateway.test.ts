import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import {
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  DynamoDBClient,
  PutItemCommand,
  QueryCommand,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import { EventBridgeClient, ListRulesCommand } from '@aws-sdk/client-eventbridge';
import {
  DescribeSecretCommand,
  GetSecretValueCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { lambda, type Resources, type Started, start } from './support.ts';

const TABLE: Resources[string] = {
  Type: 'AWS::DynamoDB::Table',
  Properties: {
    KeySchema: [
      { AttributeName: 'PK', KeyType: 'HASH' },
      { AttributeName: 'SK', KeyType: 'RANGE' },
    ],
    AttributeDefinitions: [
      { AttributeName: 'PK', AttributeType: 'S' },
      { AttributeName: 'SK', AttributeType: 'S' },
      { AttributeName: 'gauge', AttributeType: 'N' },
    ],
    BillingMode: 'PAY_PER_REQUEST',
    GlobalSecondaryIndexes: [
      {
        IndexName: 'sparse',
        KeySchema: [
          { AttributeName: 'PK', KeyType: 'HASH' },
          { AttributeName: 'gauge', KeyType: 'RANGE' },
        ],
        Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['title'] },
      },
    ],
    TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true },
    PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
    DeletionProtectionEnabled: true,
  },
};

const CODE = {
  fn: `export const handler = async (event) => { if (event.fail) throw new Error('no'); await new Promise((d) => setTimeout(d, event.ms ?? 0)); return event; };`,
};

const RESOURCES: Resources = {
  Table: TABLE,
  Fn: lambda('fn', { FunctionName: 'fn' }),
  Queue: { Type: 'AWS::SQS::Queue', Properties: { VisibilityTimeout: 60 } },
  Mapping: {
    Type: 'AWS::Lambda::EventSourceMapping',
    Properties: { EventSourceArn: { 'Fn::GetAtt': ['Queue', 'Arn'] }, FunctionName: { Ref: 'Fn' } },
  },
  Key: { Type: 'AWS::SecretsManager::Secret', Properties: { Description: 'of a model' } },
  Given: { Type: 'AWS::SecretsManager::Secret', Properties: { Name: 'given' } },
  Made: {
    Type: 'AWS::SecretsManager::Secret',
    Properties: {
      GenerateSecretString: {
        PasswordLength: 20,
        SecretStringTemplate: '{"user":"u"}',
        GenerateStringKey: 'password',
      },
    },
  },
};

describe('the gateway', () => {
  let aws: Started;
  let config: {
    endpoint: string;
    region: string;
    credentials: { accessKeyId: string; secretAccessKey: string };
  };

  before(async () => {
    aws = await start(RESOURCES, CODE, {
      secrets: { Given: 'value' },
      Outputs: {
        Table: { Value: { Ref: 'Table' } },
        Key: { Value: { Ref: 'Key' } },
        Made: { Value: { Ref: 'Made' } },
        Mapping: { Value: { Ref: 'Mapping' } },
      },
    });
    const credentials = { accessKeyId: 'somebody', secretAccessKey: 'secret' };
    config = { endpoint: aws.gatewayUrl, region: aws.region, credentials };
  });

  test('speaks DynamoDB, with the table as the template says', async () => {
    const client = new DynamoDBClient(config);
    const TableName = aws.outputs.Table ?? '';
    const { Table } = await client.send(new DescribeTableCommand({ TableName }));
    assert.equal(Table?.TableStatus, 'ACTIVE');
    const { TimeToLiveDescription } = await client.send(new DescribeTimeToLiveCommand({ TableName }));
    assert.deepEqual(TimeToLiveDescription, { AttributeName: 'expiresAt', TimeToLiveStatus: 'ENABLED' });
    const item = (SK: string, more = {}) => ({ PK: { S: 'p' }, SK: { S: SK }, title: { S: SK }, ...more });
    await client.send(new PutItemCommand({ TableName, Item: item('plain') }));
    await client.send(
      new TransactWriteItemsCommand({
        TransactItems: [{ Put: { TableName, Item: item('indexed', { gauge: { N: '5' } }) } }],
      }),
    );
    const { Items = [] } = await client.send(
      new QueryCommand({
        TableName,
        IndexName: 'sparse',
        KeyConditionExpression: 'PK = :p AND gauge >= :g',
        ExpressionAttributeValues: { ':p': { S: 'p' }, ':g': { N: '1' } },
      }),
    );
    assert.deepEqual(
      Items.map(({ title }) => title?.S),
      ['indexed'],
    );
    const refused = client.send(
      new TransactWriteItemsCommand({
        TransactItems: [
          { Put: { TableName, Item: item('plain'), ConditionExpression: 'attribute_not_exists(PK)' } },
        ],
      }),
    );
    await assert.rejects(refused, { name: 'TransactionCanceledException' });
  });

  test('speaks Secrets Manager; a secret without a value is told as on AWS', async () => {
    const client = new SecretsManagerClient(config);
    const read = async (SecretId = '') =>
      (await client.send(new GetSecretValueCommand({ SecretId }))).SecretString;
    assert.equal(await read('given'), 'value');
    const made = JSON.parse((await read(aws.outputs.Made)) ?? '');
    assert.equal(made.user, 'u');
    assert.equal(made.password.length, 20);
    await assert.rejects(read(aws.outputs.Key), { name: 'ResourceNotFoundException', message: /AWSCURRENT/ });
    await client.send(new PutSecretValueCommand({ SecretId: aws.outputs.Key, SecretString: 'later' }));
    assert.equal(await read(aws.outputs.Key), 'later');
    await assert.rejects(read('nobody'), { name: 'ResourceNotFoundException' });
  });

  /** Lambda's client is not among the dependencies; this is its protocol. */
  async function lambdaCall(method: string, path: string, body?: object, headers: object = {}) {
    const authorization =
      'AWS4-HMAC-SHA256 Credential=somebody/20260101/us-east-1/lambda/aws4_request, SignedHeaders=host, Signature=0';
    const response = await fetch(`${aws.gatewayUrl}${path}`, {
      method,
      headers: { authorization, ...headers },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const text = await response.text();
    return {
      status: response.status,
      error: response.headers.get('x-amz-function-error'),
      body: text === '' ? undefined : JSON.parse(text),
    };
  }

  test('speaks Lambda: invocations that wait and that do not', async () => {
    const path = '/2015-03-31/functions/fn/invocations';
    assert.deepEqual(await lambdaCall('POST', path, { n: 1 }), { status: 200, error: null, body: { n: 1 } });
    const failed = await lambdaCall('POST', path, { fail: true });
    assert.deepEqual([failed.status, failed.error, failed.body.errorMessage], [200, 'Unhandled', 'no']);
    const accepted = await lambdaCall('POST', path, {}, { 'x-amz-invocation-type': 'Event' });
    assert.equal(accepted.status, 202);
    await aws.idle();
    assert.equal((await lambdaCall('POST', '/2015-03-31/functions/nobody/invocations', {})).status, 404);
  });

  test('changes reserved concurrency while it runs', async () => {
    const path = '/2017-10-31/functions/fn/concurrency';
    assert.equal((await lambdaCall('PUT', path, { ReservedConcurrentExecutions: 0 })).status, 200);
    assert.equal((await lambdaCall('POST', '/2015-03-31/functions/fn/invocations', {})).status, 429);
    assert.deepEqual((await lambdaCall('GET', '/2019-09-30/functions/fn/concurrency')).body, {
      ReservedConcurrentExecutions: 0,
    });
    assert.equal((await lambdaCall('DELETE', path)).status, 204);
    assert.equal((await lambdaCall('POST', '/2015-03-31/functions/fn/invocations', {})).status, 200);
  });

  test('changes an event source mapping while it runs', async () => {
    const { body } = await lambdaCall('GET', '/2015-03-31/event-source-mappings/?FunctionName=fn');
    const [mapping] = body.EventSourceMappings;
    assert.equal(mapping.UUID, aws.outputs.Mapping);
    const changed = await lambdaCall('PUT', `/2015-03-31/event-source-mappings/${mapping.UUID}`, {
      Enabled: false,
      ScalingConfig: { MaximumConcurrency: 7 },
    });
    assert.deepEqual(
      [changed.body.State, changed.body.ScalingConfig],
      ['Disabled', { MaximumConcurrency: 7 }],
    );
    const wrong = await lambdaCall('PUT', `/2015-03-31/event-source-mappings/${mapping.UUID}`, {
      ScalingConfig: { MaximumConcurrency: 1 },
    });
    assert.equal(wrong.status, 400);
    assert.equal(
      (await lambdaCall('PUT', `/2015-03-31/event-source-mappings/${mapping.UUID}`, { Enabled: true })).body
        .State,
      'Enabled',
    );
    assert.equal((await lambdaCall('GET', '/2015-03-31/event-source-mappings/none')).status, 404);
  });

  test('refuses what it does not run in the words of AWS, and says so in the log', async () => {
    await assert.rejects(new EventBridgeClient(config).send(new ListRulesCommand({})), {
      name: 'UnknownOperationException',
    });
    await assert.rejects(
      new SecretsManagerClient(config).send(new DescribeSecretCommand({ SecretId: 'given' })),
      { name: 'UnknownOperationException' },
    );
    assert.equal((await lambdaCall('GET', '/2015-03-31/functions/fn/policy')).status, 404);
    const errors = aws.logs.filter(({ source, level }) => source === 'gateway' && level === 'error');
    assert.equal(errors.length, 3);
    assert.ok(errors.every(({ resource }) => resource === 'somebody'));
    assert.ok(errors.some(({ message }) => message.includes('events ListRules')));
  });

  test('tells a request that no SDK client signed', async () => {
    assert.equal((await fetch(aws.gatewayUrl)).status, 403);
    assert.equal((await fetch(`${aws.gatewayUrl}/some/page`)).status, 403);
  });
});

test('a table with a property that is not known is refused at the start', async () => {
  const table = { ...TABLE, Properties: { ...TABLE?.Properties, ImportSourceSpecification: {} } };
  await assert.rejects(start({ Table: table }), {
    code: 'template_unsupported',
    message: /^Table .*ImportSourceSpecification/,
  });
});

test('a DynamoDB of one’s own takes the place of the bundled one', async () => {
  const first = await start({ Table: TABLE }, {}, { Outputs: { Table: { Value: { Ref: 'Table' } } } });
  const endpoint = first.resources[0]?.runs ?? '';
  const second = await start(
    { Table: TABLE },
    {},
    { endpoints: { dynamodb: endpoint }, stackName: 'second' },
  );
  const { Table } = await new DynamoDBClient({
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'x' },
  }).send(new DescribeTableCommand({ TableName: 'second-Table' }));
  assert.equal(Table?.TableStatus, 'ACTIVE');
  assert.equal(second.resources[0]?.runs, endpoint);
});
