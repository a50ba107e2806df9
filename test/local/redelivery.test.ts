import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { eventually, lambda, start } from './support.ts';

/** Hangs in the first delivery of a message and says so. */
const WORKER = `
export const handler = async ({ Records: [record] }) => {
  const deliveries = Number(record.attributes.ApproximateReceiveCount);
  console.log('delivery ' + deliveries);
  if (deliveries === 1) await new Promise(() => setInterval(() => {}, 1000));
};`;

test('in a time lapse the message of a killed process comes back at once, not when its visibility ends', async () => {
  const resources = {
    Jobs: { Type: 'AWS::SQS::Queue', Properties: { VisibilityTimeout: 900 } },
    Worker: lambda('worker', { Timeout: 30 }),
    Mapping: {
      Type: 'AWS::Lambda::EventSourceMapping',
      Properties: {
        EventSourceArn: { 'Fn::GetAtt': ['Jobs', 'Arn'] },
        FunctionName: { Ref: 'Worker' },
        BatchSize: 1,
      },
    },
  };
  // 900 s of visibility last 150 s here
  const aws = await start(
    resources,
    { worker: WORKER },
    {
      Outputs: { Jobs: { Value: { Ref: 'Jobs' } } },
      schedule: { minuteMs: 10_000 },
    },
  );
  const client = new SQSClient({
    endpoint: aws.gatewayUrl,
    region: aws.region,
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  });
  await client.send(new SendMessageCommand({ QueueUrl: aws.outputs.Jobs, MessageBody: 'job' }));
  const logged = (wanted: string) => eventually(() => aws.logs.find(({ message }) => message === wanted));
  await logged('delivery 1');
  process.kill(aws.functions.Worker?.pids()[0] ?? Number.NaN, 'SIGKILL');
  assert.ok(await logged('delivery 2'));
});
