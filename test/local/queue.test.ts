import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  ListQueuesCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { eventually, lambda, type Resources, type Started, start, temporaryFolder } from './support.ts';

/** Notes in a file what each record does, so that the test sees it across processes. */
const WORKER = `
import { appendFileSync } from 'node:fs';
const note = (line) => appendFileSync(process.env.NOTES, line + '\\n');
export const handler = async ({ Records }, context) => {
  const failures = [];
  for (const record of Records) {
    const job = JSON.parse(record.body);
    const times = Number(record.attributes.ApproximateReceiveCount);
    note(['begin', job.id, times, process.pid, record.eventSourceARN].join(' '));
    await new Promise((done) => setTimeout(done, job.ms ?? 0));
    if (job.hangOnce && times === 1) await new Promise(() => setInterval(() => {}, 1000));
    if (job.throwOnce && times === 1) throw new Error('once');
    if (job.fail || (job.failOnce && times === 1)) failures.push({ itemIdentifier: record.messageId });
    if (job.strange && times === 1) failures.push({ itemIdentifier: 'another' });
    note(['end', job.id, times].join(' '));
  }
  return failures.length ? { batchItemFailures: failures } : undefined;
};`;

type Options = { mapping?: object; fn?: object; queue?: object };

function resources({ mapping = {}, fn = {}, queue = {} }: Options = {}): Resources {
  return {
    Dead: { Type: 'AWS::SQS::Queue' },
    Jobs: {
      Type: 'AWS::SQS::Queue',
      Properties: {
        VisibilityTimeout: 60,
        RedrivePolicy: { deadLetterTargetArn: { 'Fn::GetAtt': ['Dead', 'Arn'] }, maxReceiveCount: 3 },
        ...queue,
      },
    },
    Worker: lambda('worker', { Timeout: 10, ...fn }),
    Mapping: {
      Type: 'AWS::Lambda::EventSourceMapping',
      Properties: {
        BatchSize: 1,
        EventSourceArn: { 'Fn::GetAtt': ['Jobs', 'Arn'] },
        FunctionName: { Ref: 'Worker' },
        FunctionResponseTypes: ['ReportBatchItemFailures'],
        ScalingConfig: { MaximumConcurrency: 2 },
        ...mapping,
      },
    },
  };
}

const OUTPUTS = { Jobs: { Value: { Ref: 'Jobs' } }, Dead: { Value: { Ref: 'Dead' } } };
const WITH_MAPPING = { ...OUTPUTS, Mapping: { Value: { Ref: 'Mapping' } } };

type Bench = {
  aws: Started;
  sqs: SQSClient;
  send(...jobs: object[]): Promise<void>;
  notes(): Promise<string[][]>;
  dead(): Promise<string[]>;
  counts(): Promise<number[]>;
};

/** A minute of redelivery lasts 100 ms. */
async function bench(options: Options = {}): Promise<Bench> {
  const notesFile = `${await temporaryFolder()}/notes`;
  const aws = await start(
    resources(options),
    { worker: WORKER },
    {
      Outputs: WITH_MAPPING,
      environment: { NOTES: notesFile },
      schedule: { minuteMs: 100 },
    },
  );
  const sqs = client(aws);
  const url = aws.outputs.Jobs ?? '';
  const { readFile } = await import('node:fs/promises');
  return {
    aws,
    sqs,
    send: async (...jobs) => {
      const Entries = jobs.map((job, index) => ({ Id: `${index}`, MessageBody: JSON.stringify(job) }));
      await sqs.send(new SendMessageBatchCommand({ QueueUrl: url, Entries }));
    },
    notes: async () =>
      (await readFile(notesFile, 'utf8').catch(() => ''))
        .split('\n')
        .filter(Boolean)
        .map((line) => line.split(' ')),
    dead: async () => {
      const { Messages = [] } = await sqs.send(
        new ReceiveMessageCommand({
          QueueUrl: aws.outputs.Dead ?? '',
          MaxNumberOfMessages: 10,
          VisibilityTimeout: 0,
        }),
      );
      return Messages.map(({ Body }) => JSON.parse(Body ?? '{}').id);
    },
    counts: async () => {
      const { Attributes = {} } = await sqs.send(
        new GetQueueAttributesCommand({
          QueueUrl: url,
          AttributeNames: ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'],
        }),
      );
      return Object.values(Attributes).map(Number);
    },
  };
}

function client(aws: Started): SQSClient {
  const { AWS_ENDPOINT_URL: endpoint = '', AWS_REGION: region = '' } = aws.credentials;
  return new SQSClient({ endpoint, region, credentials: { accessKeyId: 'test', secretAccessKey: 'test' } });
}

async function setEnabled(aws: Started, Enabled: boolean): Promise<void> {
  const response = await fetch(`${aws.gatewayUrl}/2015-03-31/event-source-mappings/${aws.outputs.Mapping}`, {
    method: 'PUT',
    headers: { authorization: 'AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/lambda/aws4_request' },
    body: JSON.stringify({ Enabled }),
  });
  assert.equal(response.status, 202);
}

const lines = (notes: string[][], what: string, id: string) =>
  notes.filter(([kind, job]) => kind === what && job === id);

describe('a queue with a consumer', () => {
  test('has its messages handled and deleted', async () => {
    const { aws, send, notes, counts } = await bench();
    await send({ id: 'a' }, { id: 'b' });
    await aws.idle();
    assert.deepEqual(await counts(), [0, 0]);
    const all = await notes();
    assert.equal(lines(all, 'end', 'a').length, 1);
    assert.equal(lines(all, 'end', 'b').length, 1);
    assert.equal(lines(all, 'begin', 'a')[0]?.[4], 'arn:aws:sqs:us-east-1:000000000000:local-Jobs');
  });

  test('keeps of a batch only the messages that the function lists', async () => {
    const { aws, send, notes } = await bench({ mapping: { BatchSize: 10 } });
    await send({ id: 'good' }, { id: 'bad', failOnce: true }, { id: 'fine' });
    await aws.idle();
    const all = await notes();
    assert.equal(lines(all, 'end', 'good').length, 1);
    assert.equal(lines(all, 'end', 'fine').length, 1);
    assert.deepEqual(
      lines(all, 'end', 'bad').map(([, , times]) => times),
      ['1', '2'],
    );
  });

  test('keeps the whole batch when the function throws or names a message that is not in it', async () => {
    for (const trouble of [{ throwOnce: true }, { strange: true }]) {
      const { aws, send, notes } = await bench({ mapping: { BatchSize: 10 } });
      await send({ id: 'one' }, { id: 'two', ...trouble });
      await aws.idle();
      const all = await notes();
      assert.deepEqual(lines(all, 'end', 'two').at(-1), ['end', 'two', '2']);
    }
  });

  test('moves a message that keeps failing to the dead-letter queue after maxReceiveCount', async () => {
    const { aws, send, notes, dead } = await bench();
    await send({ id: 'poison', fail: true });
    const found = await eventually(async () => (await dead()).at(0));
    assert.equal(found, 'poison');
    assert.deepEqual(
      lines(await notes(), 'begin', 'poison').map(([, , times]) => times),
      ['1', '2', '3'],
    );
    await aws.idle();
  });

  test('delivers a message again when the process is killed in the middle of it', async () => {
    const { aws, send, notes } = await bench();
    await send({ id: 'victim', hangOnce: true });
    const begun = await eventually(async () => lines(await notes(), 'begin', 'victim').at(0));
    process.kill(Number(begun[3]), 'SIGKILL');
    await aws.idle();
    assert.deepEqual(lines(await notes(), 'end', 'victim'), [['end', 'victim', '2']]);
  });

  test('never has more batches at once than the mapping and the function allow', async () => {
    const { aws, send, notes } = await bench({ fn: { ReservedConcurrentExecutions: 2 } });
    await send(...Array.from({ length: 8 }, (_, n) => ({ id: `j${n}`, ms: 40 })));
    await aws.idle();
    const depths: number[] = [];
    let depth = 0;
    for (const [kind] of await notes()) {
      depth += kind === 'begin' ? 1 : -1;
      depths.push(depth);
    }
    assert.equal(Math.max(...depths), 2);
    assert.equal((await notes()).filter(([kind]) => kind === 'end').length, 8);
  });

  test('gives throttled messages back, and none of them is lost or handled at the same time', async () => {
    const { aws, send, notes, dead } = await bench({
      fn: { ReservedConcurrentExecutions: 1 },
      queue: {
        RedrivePolicy: { deadLetterTargetArn: { 'Fn::GetAtt': ['Dead', 'Arn'] }, maxReceiveCount: 50 },
      },
    });
    await send({ id: 'x', ms: 150 }, { id: 'y', ms: 150 });
    await aws.idle();
    assert.deepEqual(
      (await notes()).map(([kind]) => kind),
      ['begin', 'end', 'begin', 'end'],
    );
    assert.deepEqual(await dead(), []);
  });

  test('waits while the mapping is disabled', async () => {
    const { aws, send, sqs } = await bench({ mapping: { Enabled: false } });
    await send({ id: 'waiting' });
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({ QueueUrl: aws.outputs.Jobs ?? '', WaitTimeSeconds: 1 }),
    );
    assert.equal(Messages.length, 1);
    assert.deepEqual(aws.functions.Worker?.pids(), []);
  });

  test('leaves messages to others from the moment on in which the mapping is disabled', async () => {
    const { aws, send, sqs, notes } = await bench();
    await send({ id: 'first' });
    await aws.idle();
    // Its poll for the next message waits at the queue already
    await setEnabled(aws, false);
    await send({ id: 'second' });
    const QueueUrl = aws.outputs.Jobs ?? '';
    const seen = await eventually(async () => {
      const { Messages } = await sqs.send(new ReceiveMessageCommand({ QueueUrl, VisibilityTimeout: 0 }));
      return Messages?.[0]?.Body;
    });
    assert.equal(seen, '{"id":"second"}');
    await setEnabled(aws, true);
    await aws.idle();
    assert.deepEqual(
      (await notes()).filter(([kind]) => kind === 'end').map(([, id]) => id),
      ['first', 'second'],
    );
  });

  test('works under any name, and its clients stay at the gateway', async () => {
    const { aws, send, notes, sqs } = await bench({ queue: { QueueName: 'renamed' } });
    await send({ id: 'a' });
    await aws.idle();
    assert.equal(lines(await notes(), 'end', 'a').length, 1);
    const url = `${aws.gatewayUrl}/000000000000/renamed`;
    assert.equal(aws.outputs.Jobs, url);
    assert.equal((await sqs.send(new GetQueueUrlCommand({ QueueName: 'renamed' }))).QueueUrl, url);
    assert.deepEqual((await sqs.send(new ListQueuesCommand({}))).QueueUrls?.sort(), [
      `${aws.gatewayUrl}/000000000000/local-Dead`,
      url,
    ]);
  });
});

test('attributes and redrive policy come from the template, under the account that was asked for', async () => {
  const aws = await start(
    {
      Dead: { Type: 'AWS::SQS::Queue', Properties: { QueueName: 'dead', MessageRetentionPeriod: 1209600 } },
      Jobs: resources().Jobs as Resources[string],
    },
    {},
    { accountId: '123456789012', Outputs: OUTPUTS },
  );
  const { Attributes = {} } = await client(aws).send(
    new GetQueueAttributesCommand({ QueueUrl: aws.outputs.Jobs ?? '', AttributeNames: ['All'] }),
  );
  assert.equal(Attributes.VisibilityTimeout, '60');
  assert.equal(Attributes.QueueArn, 'arn:aws:sqs:us-east-1:123456789012:local-Jobs');
  assert.deepEqual(JSON.parse(Attributes.RedrivePolicy ?? ''), {
    deadLetterTargetArn: 'arn:aws:sqs:us-east-1:123456789012:dead',
    maxReceiveCount: 3,
  });
  await assert.rejects(
    client(aws).send(new SendMessageCommand({ QueueUrl: `${aws.gatewayUrl}/1/nobody`, MessageBody: 'x' })),
    { name: /QueueDoesNotExist|NonExistentQueue/ },
  );
});

const REFUSED: readonly [what: string, options: Options, message: RegExp][] = [
  ['a visibility shorter than the function', { queue: { VisibilityTimeout: 5 } }, /^Mapping .*shorter/],
  [
    'a concurrency below two',
    { mapping: { ScalingConfig: { MaximumConcurrency: 1 } } },
    /^Mapping .*MaximumConcurrency/,
  ],
  [
    'a queue of another stack',
    { mapping: { EventSourceArn: 'arn:aws:sqs:us-east-1:1:other' } },
    /^Mapping .*other/,
  ],
  ['a filter', { mapping: { FilterCriteria: {} } }, /^Mapping .*FilterCriteria/],
  ['an unknown queue property', { queue: { Speed: 1 } }, /^Jobs .*Speed/],
];

for (const [what, options, message] of REFUSED)
  test(`${what} is refused at the start`, async () => {
    await assert.rejects(start(resources(options), { worker: WORKER }), { message });
  });
