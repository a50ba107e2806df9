import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { eventually, lambda, type Resources, type Started, start } from './support.ts';

const CODE = {
  // Tells what it got on its output, and fails as often as the event says.
  listener: `let failures = 0;
    export const handler = async (event) => {
      console.log(JSON.stringify({ message: 'got', event }));
      if (event.detail?.fail > failures++) throw new Error('again');
    };`,
};

function rule(target: string, pattern: object, more: object = {}): Resources[string] {
  return {
    Type: 'AWS::Events::Rule',
    Properties: {
      EventBusName: { Ref: 'Bus' },
      EventPattern: pattern,
      State: 'ENABLED',
      Targets: [{ Id: 'T', Arn: { 'Fn::GetAtt': [target, 'Arn'] } }],
      ...more,
    },
  };
}

const RESOURCES: Resources = {
  Bus: { Type: 'AWS::Events::EventBus', Properties: { Name: 'chat' } },
  Listener: lambda('listener', { DeadLetterConfig: { TargetArn: { 'Fn::GetAtt': ['Lost', 'Arn'] } } }),
  Once: lambda('listener'),
  OnceConfig: {
    Type: 'AWS::Lambda::EventInvokeConfig',
    Properties: { FunctionName: { Ref: 'Once' }, Qualifier: '$LATEST', MaximumRetryAttempts: 0 },
  },
  Lost: { Type: 'AWS::SQS::Queue' },
  Inbox: { Type: 'AWS::SQS::Queue' },
  ToListener: rule('Listener', { 'detail-type': ['to.listener'] }),
  ToOnce: rule('Once', { 'detail-type': ['to.once'] }),
  ToInbox: rule('Inbox', { source: [{ prefix: 'app' }], detail: { kind: ['letter'] } }),
  Off: rule('Inbox', { source: ['off'] }, { State: 'DISABLED' }),
  Elsewhere: rule('Inbox', { source: ['elsewhere'] }, { EventBusName: 'default' }),
};

describe('an event bus', () => {
  let aws: Started;
  let events: EventBridgeClient;
  let sqs: SQSClient;

  before(async () => {
    aws = await start(RESOURCES, CODE, {
      schedule: { minuteMs: 10 },
      Outputs: { Lost: { Value: { Ref: 'Lost' } }, Inbox: { Value: { Ref: 'Inbox' } } },
    });
    const config = {
      endpoint: aws.gatewayUrl,
      region: aws.region,
      credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    };
    events = new EventBridgeClient(config);
    sqs = new SQSClient(config);
  });

  const put = (entry: object) =>
    events.send(
      new PutEventsCommand({
        Entries: [{ EventBusName: 'chat', Source: 'app.chat', DetailType: 'any', Detail: '{}', ...entry }],
      }),
    );
  const received = async (queue: string): Promise<Record<string, unknown>[]> => {
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({
        QueueUrl: aws.outputs[queue] ?? '',
        MaxNumberOfMessages: 10,
        WaitTimeSeconds: 0,
        VisibilityTimeout: 0,
      }),
    );
    return Messages.map(({ Body }) => JSON.parse(Body ?? ''));
  };
  const got = (of: string, id: string | undefined) =>
    aws.logs.filter(
      ({ resource, data }) => resource === of && (data?.event as { id?: string } | undefined)?.id === id,
    );

  test('hands a matching event to the function of its rule, in the shape of EventBridge', async () => {
    const { Entries = [] } = await put({ DetailType: 'to.listener', Detail: '{"n":1}', Resources: ['r'] });
    await aws.idle();
    const [entry] = await eventually(() =>
      got('Listener', Entries[0]?.EventId).length > 0 ? got('Listener', Entries[0]?.EventId) : undefined,
    );
    const event = entry?.data?.event as Record<string, unknown>;
    assert.match(String(event.time), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    const { id: _id, time: _time, ...rest } = event;
    assert.deepEqual(rest, {
      version: '0',
      'detail-type': 'to.listener',
      source: 'app.chat',
      account: '000000000000',
      region: 'us-east-1',
      resources: ['r'],
      detail: { n: 1 },
    });
  });

  test('puts a matching event into a queue, and no event that does not match', async () => {
    await put({ Detail: '{"kind":"other"}' });
    await put({ Source: 'off', Detail: '{"kind":"letter"}' });
    await put({ Source: 'elsewhere', Detail: '{"kind":"letter"}' });
    await put({ Detail: '{"kind":"letter"}' });
    const letters = await received('Inbox');
    assert.deepEqual(
      letters.map(({ source }) => source),
      ['app.chat'],
    );
  });

  test('retries a function that fails twice, then the event is in its dead-letter queue', async () => {
    const { Entries = [] } = await put({ DetailType: 'to.listener', Detail: '{"fail":99}' });
    const lost = await eventually(async () => (await received('Lost'))[0]);
    assert.equal(lost.id, Entries[0]?.EventId);
    assert.equal(got('Listener', Entries[0]?.EventId).length, 3);
    await eventually(() => aws.logs.find(({ message }) => message.includes('given up')));
  });

  test('retries as often as the function is configured', async () => {
    const { Entries = [] } = await put({ DetailType: 'to.once', Detail: '{"fail":99}' });
    await aws.idle();
    await eventually(() => (got('Once', Entries[0]?.EventId).length === 1 ? true : undefined));
  });

  test('answers a bad entry by itself and takes the others', async () => {
    const { FailedEntryCount, Entries = [] } = await events.send(
      new PutEventsCommand({
        Entries: [
          { EventBusName: 'chat', Source: 's', DetailType: 't', Detail: 'not json' },
          { EventBusName: 'chat', Source: 's', DetailType: 't' },
          {
            EventBusName: 'arn:aws:events:us-east-1:000000000000:event-bus/chat',
            Source: 's',
            DetailType: 't',
            Detail: '{}',
          },
        ],
      }),
    );
    assert.equal(FailedEntryCount, 2);
    assert.deepEqual(
      Entries.map(({ ErrorCode }) => ErrorCode),
      ['MalformedDetail', 'InvalidArgument', undefined],
    );
    await assert.rejects(put({ EventBusName: 'nobody' }), { name: 'ResourceNotFoundException' });
  });
});

const REFUSED: readonly [what: string, resource: Resources[string], message: RegExp][] = [
  [
    'an input transformer',
    rule(
      'Inbox',
      { source: ['x'] },
      { Targets: [{ Id: 'T', Arn: { 'Fn::GetAtt': ['Inbox', 'Arn'] }, InputTransformer: {} }] },
    ),
    /^Rule .*Targets\.0\.InputTransformer/,
  ],
  [
    'a target that does not run here',
    rule('Inbox', { source: ['x'] }, { Targets: [{ Id: 'T', Arn: 'arn:aws:sns:us-east-1:1:topic' }] }),
    /^Rule .*arn:aws:sns/,
  ],
  [
    'a schedule, which is legacy',
    { Type: 'AWS::Events::Rule', Properties: { ScheduleExpression: 'rate(1 minute)' } },
    /^Rule /,
  ],
  ['an unknown operator', rule('Inbox', { source: [{ wildcard: '*' }] }), /^Rule .*wildcard/],
];

for (const [what, resource, message] of REFUSED)
  test(`a rule with ${what} is refused at the start`, async () => {
    const { Bus, Inbox } = RESOURCES as Record<'Bus' | 'Inbox', Resources[string]>;
    await assert.rejects(start({ Bus, Inbox, Rule: resource }), { message });
  });
