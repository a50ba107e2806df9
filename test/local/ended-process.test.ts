import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { eventually, isAlive, lambda, start } from './support.ts';

const HANG = `
export const handler = async (event) => {
  if (event.hang) await new Promise(() => setInterval(() => {}, 1000));
  return process.pid;
};`;

/** Hangs in the first delivery of a message and says so. */
const WORKER = `
export const handler = async ({ Records: [record] }) => {
  const deliveries = Number(record.attributes.ApproximateReceiveCount);
  console.log('delivery ' + deliveries);
  if (deliveries === 1) await new Promise(() => setInterval(() => {}, 1000));
};`;

describe('a process that is ended', { concurrency: true }, () => {
  test('an environment that was ended for its timeout is never used again, not even at once', async () => {
    const aws = await start({ Slow: lambda('slow', { Timeout: 1 }) }, { slow: HANG });
    const first = await aws.invoke('Slow', {});
    assert.ok(first.ok);
    const late = await aws.invoke('Slow', { hang: true });
    assert.equal(!late.ok && late.errorType, 'Sandbox.Timedout');
    // The exit of the killed process has not been noticed yet
    const next = await aws.invoke('Slow', {});
    assert.ok(next.ok, JSON.stringify(next));
    assert.notEqual(next.payload, first.payload);
    await eventually(() => !isAlive(Number(first.payload)) || undefined);
  });

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
});
