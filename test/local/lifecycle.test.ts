import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { DynamoDBClient, GetItemCommand, PutItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb';
import {
  ChangeMessageVisibilityCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { findBinary } from '../../local/aws/dynamodb/engine.ts';
import {
  eventually,
  isAlive,
  lambda,
  type Resources,
  type Started,
  start,
  temporaryFolder,
  writeAssembly,
} from './support.ts';

const CODE = {
  fn: `export const handler = async ({ ms = 0, block }) => { if (block) for (;;); await new Promise((d) => setTimeout(d, ms)); return process.pid; };`,
};

function table(properties: object = {}): Resources[string] {
  return {
    Type: 'AWS::DynamoDB::Table',
    Properties: {
      KeySchema: [{ AttributeName: 'PK', KeyType: 'HASH' }],
      AttributeDefinitions: [{ AttributeName: 'PK', AttributeType: 'S' }],
      BillingMode: 'PAY_PER_REQUEST',
      ...properties,
    },
  };
}

const RESOURCES: Resources = {
  Table: table(),
  Queue: { Type: 'AWS::SQS::Queue', Properties: { VisibilityTimeout: 600 } },
  Pool: { Type: 'AWS::Cognito::UserPool' },
  Fn: lambda('fn', { Timeout: 60 }),
};
const Outputs = { Table: { Value: { Ref: 'Table' } }, Queue: { Value: { Ref: 'Queue' } } };

function clients(aws: Started): { dynamodb: DynamoDBClient; sqs: SQSClient } {
  const config = {
    endpoint: aws.gatewayUrl,
    region: aws.region,
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
  };
  return { dynamodb: new DynamoDBClient(config), sqs: new SQSClient(config) };
}

test('a taken port is one clear sentence, and nothing stays running', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  try {
    for (const options of [{ apiPort: port }, { gatewayPort: port }])
      await assert.rejects(start(RESOURCES, CODE, options), {
        name: 'PortTakenError',
        code: 'port_taken',
        message: new RegExp(`^Port ${port} for the \\S.* is taken`),
      });
  } finally {
    server.close();
  }
});

test('data, messages and the signing key outlive a stop; what was in flight is delivered again', async () => {
  const dataDir = await temporaryFolder();
  const first = await start(RESOURCES, CODE, { dataDir, Outputs });
  const TableName = first.outputs.Table ?? '';
  await clients(first).dynamodb.send(new PutItemCommand({ TableName, Item: { PK: { S: 'kept' } } }));
  const QueueUrl = first.outputs.Queue ?? '';
  await clients(first).sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'in flight' }));
  await clients(first).sqs.send(new ReceiveMessageCommand({ QueueUrl }));
  const key = await readFile(join(dataDir, 'issuer-key.json'), 'utf8');
  await first.stop();

  const second = await start(RESOURCES, CODE, { dataDir, Outputs });
  const { Item } = await clients(second).dynamodb.send(
    new GetItemCommand({ TableName, Key: { PK: { S: 'kept' } } }),
  );
  assert.deepEqual(Item, { PK: { S: 'kept' } });
  const { Messages = [] } = await clients(second).sqs.send(
    new ReceiveMessageCommand({ QueueUrl: second.outputs.Queue ?? '' }),
  );
  assert.deepEqual(
    Messages.map(({ Body }) => Body),
    ['in flight'],
  );
  assert.equal(await readFile(join(dataDir, 'issuer-key.json'), 'utf8'), key);
});

test('a message on disk can be given back at once', async () => {
  const dataDir = await temporaryFolder();
  const aws = await start({ Queue: RESOURCES.Queue as Resources[string] }, CODE, {
    dataDir,
    Outputs: { Queue: Outputs.Queue },
  });
  const { sqs } = clients(aws);
  const QueueUrl = aws.outputs.Queue ?? '';
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'again' }));
  const { Messages: first = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl }));
  const ReceiptHandle = first[0]?.ReceiptHandle ?? '';
  await sqs.send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout: 0 }));
  const { Messages: second = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl }));
  assert.equal(second[0]?.Body, 'again');
});

test('a second start on the same data is refused; the lock of a dead process is taken over', async () => {
  const dataDir = await temporaryFolder();
  const only = { Fn: RESOURCES.Fn as Resources[string] };
  const first = await start(only, CODE, { dataDir });
  await assert.rejects(start(only, CODE, { dataDir }), {
    code: 'data_in_use',
    message: new RegExp(`process ${process.pid}`),
  });
  await first.stop();
  for (const stale of [
    JSON.stringify({ pid: 2 ** 22 + 1, startedAt: '1' }),
    JSON.stringify({ pid: process.pid, startedAt: '1' }),
    '{"pid"',
  ]) {
    await writeFile(join(dataDir, 'lock'), stale);
    const next = await start(only, CODE, { dataDir });
    await next.stop();
  }
});

test('a table in the data folder keeps its items and gets the indexes that the template has now', async () => {
  const dataDir = await temporaryFolder();
  const indexed = (kind: string, projection: object) =>
    table({
      AttributeDefinitions: ['PK', kind].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
      GlobalSecondaryIndexes: [
        {
          IndexName: 'by-kind',
          KeySchema: [{ AttributeName: kind, KeyType: 'HASH' }],
          Projection: projection,
        },
      ],
    });
  const item = { PK: { S: 'kept' }, old: { S: 'o' }, new: { S: 'n' }, title: { S: 't' } };
  const versions = [
    { template: table(), kind: undefined, seen: undefined },
    { template: indexed('old', { ProjectionType: 'KEYS_ONLY' }), kind: 'old', seen: undefined },
    { template: indexed('new', { ProjectionType: 'KEYS_ONLY' }), kind: 'new', seen: undefined },
    {
      template: indexed('new', { ProjectionType: 'INCLUDE', NonKeyAttributes: ['title'] }),
      kind: 'new',
      seen: 't',
    },
  ];
  for (const { template, kind, seen } of versions) {
    const aws = await start({ Table: template }, {}, { dataDir, Outputs: { Table: Outputs.Table } });
    const { dynamodb } = clients(aws);
    const TableName = aws.outputs.Table ?? '';
    if (kind === undefined) await dynamodb.send(new PutItemCommand({ TableName, Item: item }));
    else {
      const query = new QueryCommand({
        TableName,
        IndexName: 'by-kind',
        KeyConditionExpression: '#kind = :kind',
        ExpressionAttributeNames: { '#kind': kind },
        ExpressionAttributeValues: { ':kind': { S: kind.slice(0, 1) } },
      });
      const { Items = [] } = await dynamodb.send(query);
      assert.deepEqual(
        Items.map(({ PK, title }) => [PK?.S, title?.S]),
        [['kept', seen]],
      );
    }
    await aws.stop();
  }
});

test('a table with other keys than the data has is told, and the data is left alone', async () => {
  const dataDir = await temporaryFolder();
  await (await start({ Table: table() }, {}, { dataDir })).stop();
  const changed = table({
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
  });
  await assert.rejects(start({ Table: changed }, {}, { dataDir }), {
    code: 'data_outdated',
    message: /Table/,
  });
  await (await start({ Table: table() }, {}, { dataDir })).stop();
});

test('a stop waits for invocations in flight, and then no process is left', async () => {
  const aws = await start(RESOURCES, CODE);
  const invocation = aws.invoke('Fn', { ms: 300 });
  const pid = await eventually(() => aws.functions.Fn?.pids()[0]);
  await Promise.all([aws.stop(), aws.stop()]);
  assert.deepEqual(await invocation, { ok: true, payload: pid });
  await eventually(() => !isAlive(pid) || undefined);
  await assert.rejects(fetch(aws.gatewayUrl));
});

test('a stop does not wait longer than it may', async () => {
  const aws = await start(RESOURCES, CODE);
  const invocation = aws.invoke('Fn', { ms: 60_000 });
  const pid = await eventually(() => aws.functions.Fn?.pids()[0]);
  await aws.stop({ timeoutMs: 50 });
  assert.equal((await invocation).ok, false);
  assert.equal(isAlive(pid), false);
  assert.ok(aws.logs.some(({ message }) => message.includes('Still running')));
});

test('children are in process groups of their own, out of reach of Ctrl-C', async () => {
  const aws = await start({ Fn: RESOURCES.Fn as Resources[string] }, CODE);
  const { payload } = (await aws.invoke('Fn', {})) as { payload: number };
  const stat = await readFile(`/proc/${payload}/stat`, 'utf8');
  assert.equal(Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2]), payload);
});

const KILLED = fileURLToPath(new URL('./support-killed.ts', import.meta.url));

test('after kill -9 no child stays, not even one that never yields, and the next start finds everything', async () => {
  const assemblyDir = await writeAssembly(CODE);
  const dataDir = await temporaryFolder();
  const parent = spawn(process.execPath, [KILLED, assemblyDir, dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const said = await new Promise<string>((resolve) =>
    parent.stdout.once('data', (chunk: Buffer) => resolve(String(chunk))),
  );
  const pids = JSON.parse(said) as number[];
  assert.equal(pids.length, 3);
  assert.ok(pids.every(isAlive));
  parent.kill('SIGKILL');
  for (const pid of pids) await eventually(() => !isAlive(pid) || undefined);

  const resources = {
    Table: table(),
    Queue: { Type: 'AWS::SQS::Queue', Properties: { QueueName: 'queue', VisibilityTimeout: 600 } },
  };
  const aws = await start(resources, {}, { dataDir, Outputs });
  const { dynamodb, sqs } = clients(aws);
  const { Item } = await dynamodb.send(
    new GetItemCommand({ TableName: aws.outputs.Table ?? '', Key: { PK: { S: 'kept' } } }),
  );
  assert.deepEqual(Item, { PK: { S: 'kept' } });
  const { Messages = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl: aws.outputs.Queue ?? '' }));
  assert.deepEqual(
    Messages.map(({ Body }) => Body),
    ['in flight'],
  );
});

test('data that cannot be written or read is told in a sentence', async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'file'), '');
  await assert.rejects(start({ Table: table() }, {}, { dataDir: join(folder, 'file') }), {
    code: 'data_unusable',
    message: /file cannot be written/,
  });
  const damaged = await temporaryFolder();
  await writeFile(join(damaged, 'tables.db'), 'no database'.repeat(100));
  await assert.rejects(start({ Table: table() }, {}, { dataDir: damaged }), {
    code: 'engine_failed',
    message: /^The DynamoDB engine did not start \(.*not a valid SQLite database\): check .*tables\.db/,
  });
  await mkdir(join(damaged, 'sqs'));
  await writeFile(join(damaged, 'sqs', 'fauxqs.db'), 'no database'.repeat(100));
  await assert.rejects(start({ Queue: RESOURCES.Queue as Resources[string] }, {}, { dataDir: damaged }), {
    code: 'engine_failed',
    message: /sqs cannot be opened: .*not a database/,
  });
  await writeFile(join(damaged, 'issuer-key.json'), '{}');
  await assert.rejects(start({ Pool: RESOURCES.Pool as Resources[string] }, {}, { dataDir: damaged }), {
    code: 'data_damaged',
    message: /issuer-key\.json/,
  });
});

test('a platform without the engine is told how to go on', () => {
  assert.throws(() => findBinary('plan9-mips'), {
    code: 'engine_missing',
    message: /plan9-mips.*AWS_ENDPOINT_URL_DYNAMODB/,
  });
});

test('an assembly that is not there is told', async () => {
  await assert.rejects(start({ Fn: RESOURCES.Fn as Resources[string] }, CODE, { assemblyDir: '/nowhere' }), {
    code: 'assembly_invalid',
    message: /synthesize/,
  });
});
