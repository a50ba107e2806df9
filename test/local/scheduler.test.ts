import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { eventually, lambda, type Resources, start } from './support.ts';

const CODE = {
  tick: `export const handler = async (event) => console.log(JSON.stringify({ message: 'tick', event }));`,
};

function schedule(properties: object = {}, target: object = {}): Resources[string] {
  return {
    Type: 'AWS::Scheduler::Schedule',
    Properties: {
      FlexibleTimeWindow: { Mode: 'OFF' },
      ScheduleExpression: 'rate(1 minute)',
      State: 'ENABLED',
      Target: {
        Arn: { 'Fn::GetAtt': ['Tick', 'Arn'] },
        RoleArn: 'arn:aws:iam::000000000000:role/any',
        ...target,
      },
      ...properties,
    },
  };
}

test('a schedule invokes its function again and again, in a time lapse', async () => {
  const aws = await start(
    { Tick: lambda('tick'), Often: schedule(), Never: schedule({ State: 'DISABLED' }, { Input: '"never"' }) },
    CODE,
    { schedule: { minuteMs: 50 } },
  );
  const ticks = () => aws.logs.filter(({ message }) => message === 'tick');
  await eventually(() => (ticks().length >= 3 ? true : undefined));
  const event = ticks()[0]?.data?.event as Record<string, unknown>;
  assert.equal(event.source, 'aws.scheduler');
  assert.equal(event['detail-type'], 'Scheduled Event');
  assert.deepEqual(event.resources, [
    'arn:aws:scheduler:us-east-1:000000000000:schedule/default/local-Often',
  ]);
  assert.ok(ticks().every(({ data }) => data?.event !== 'never'));
  await aws.stop();
  const after = ticks().length;
  await new Promise((resolve) => setTimeout(resolve, 120));
  assert.equal(ticks().length, after);
});

test('a schedule can put its input, with its attributes filled in, into a queue', async () => {
  const aws = await start(
    {
      Inbox: { Type: 'AWS::SQS::Queue' },
      Letter: schedule(
        { ScheduleExpression: 'rate(2 minutes)' },
        {
          Arn: { 'Fn::GetAtt': ['Inbox', 'Arn'] },
          Input: '{"at":"<aws.scheduler.scheduled-time>","by":"<aws.scheduler.schedule-arn>"}',
        },
      ),
    },
    {},
    { schedule: { minuteMs: 20 }, Outputs: { Inbox: { Value: { Ref: 'Inbox' } } } },
  );
  const sqs = new SQSClient({
    endpoint: aws.gatewayUrl,
    region: aws.region,
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
  });
  const { Messages = [] } = await sqs.send(
    new ReceiveMessageCommand({ QueueUrl: aws.outputs.Inbox ?? '', WaitTimeSeconds: 5 }),
  );
  const body = JSON.parse(Messages[0]?.Body ?? '{}');
  assert.match(body.at, /^\d{4}-.*Z$/);
  assert.equal(body.by, 'arn:aws:scheduler:us-east-1:000000000000:schedule/default/local-Letter');
});

const REFUSED: readonly [what: string, resource: Resources[string], message: RegExp][] = [
  ['a cron expression', schedule({ ScheduleExpression: 'cron(0 9 * * ? *)' }), /^Often .*cron/],
  [
    'an unknown target',
    schedule({}, { Arn: 'arn:aws:states:us-east-1:1:stateMachine:x' }),
    /^Often .*stateMachine/,
  ],
  ['an end date', schedule({ EndDate: '2030-01-01T00:00:00Z' }), /^Often .*EndDate/],
];

for (const [what, resource, message] of REFUSED)
  test(`a schedule with ${what} is refused at the start`, async () => {
    await assert.rejects(start({ Tick: lambda('tick'), Often: resource }, CODE), { message });
  });
