import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import * as z from 'zod';
import { channelReply, contextReply, messageReply, pressureReply } from '../../local/cli/api-client.ts';
import { startMessagesApi } from '../support/messages-api.ts';
import { eventually, type Service, startService } from '../support/service.ts';

const TURNS = 12;

/** A conversation of an hour ago, well over the threshold of a window of 8 000 tokens. */
function talk() {
  const messages = Array.from({ length: TURNS * 2 }, (_, index) => ({
    ref: `m${index}`,
    parent_ref: index === 0 ? null : `m${index - 1}`,
    role: index % 2 === 0 ? 'user' : 'assistant',
    content:
      `${index % 2 === 0 ? 'Question' : 'Answer'} ${index}: order A-${1_000 + index} ships from /depot/${index}. `.repeat(
        20,
      ),
  }));
  const updated_at = new Date(Date.now() - 3_600_000).toISOString();
  return { title: 'orders', model: 'small', updated_at, messages, current_ref: `m${messages.length - 1}` };
}

async function importTalk({ owner, admin }: Service): Promise<string> {
  await admin('PUT', '/admin/models/small', z.unknown(), { max_context: 8_000 });
  return (await owner('POST', '/channels/import', channelReply, talk())).id;
}

const contextOf = ({ owner }: Service, id: string) => owner('GET', `/channels/${id}/context`, contextReply);

const compacted = (service: Service, id: string) =>
  eventually('the compaction', async () => {
    const context = await contextOf(service, id);
    return context.summary_id === null ? undefined : context;
  });

async function switchOn({ set }: Service): Promise<void> {
  await set('auto_compaction_interval_minutes', 0);
  await set('auto_compaction_enabled', true);
}

/** Adds a queue that hears every result, beside what the stack has. */
function withListener(template: string): string {
  const parsed = JSON.parse(template) as {
    Resources: Record<string, { Type: string }>;
    Outputs: Record<string, unknown>;
  };
  const [bus] = Object.entries(parsed.Resources).find(([, { Type }]) => Type === 'AWS::Events::EventBus') ?? [
    '',
  ];
  Object.assign(parsed.Resources, {
    Heard: { Type: 'AWS::SQS::Queue', Properties: {} },
    Hear: {
      Type: 'AWS::Events::Rule',
      Properties: {
        EventBusName: { Ref: bus },
        EventPattern: { 'detail-type': ['compaction.result'] },
        State: 'ENABLED',
        Targets: [{ Id: 'heard', Arn: { 'Fn::GetAtt': ['Heard', 'Arn'] } }],
      },
    },
  });
  parsed.Outputs.HeardUrl = { Value: { Ref: 'Heard' } };
  return JSON.stringify(parsed);
}

/** The same stack with its compaction queue under another name. */
function withRenamedQueue(template: string): string {
  const parsed = JSON.parse(template) as {
    Resources: Record<string, { Type: string; Properties: Record<string, unknown> }>;
  };
  const [id] = Object.entries(parsed.Resources).find(
    ([, { Type, Properties }]) => Type === 'AWS::SQS::Queue' && Properties.RedrivePolicy !== undefined,
  ) ?? [''];
  const queue = parsed.Resources[id];
  assert.ok(queue);
  queue.Properties.QueueName = 'quite-another-name';
  return JSON.stringify(parsed).replaceAll(`"${id}"`, '"RenamedQueue"');
}

const clientConfig = ({ aws }: Service) => ({
  endpoint: aws.gatewayUrl,
  region: aws.region,
  credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
});

describe('the service on the embedded AWS', () => {
  it('schedule → scanner → queue → compactor → summary: what it covers, keeps, counts, records and announces', async () => {
    const service = await startService({ edit: withListener });
    const { owner, admin, aws, log } = service;
    const id = await importTalk(service);
    const before = await contextOf(service, id);
    const pressure = await owner('GET', `/channels/${id}/pressure`, pressureReply);
    assert.equal(pressure.over_threshold, true);
    assert.equal((await contextOf(service, id)).summary_id, null, 'it ships switched off');

    await switchOn(service);
    const context = await compacted(service, id);
    const [summary, ...kept] = context.messages;
    assert.ok(summary);
    assert.equal(kept.length, 4, 'two turns stay');
    assert.deepEqual(kept, before.messages.slice(-4));
    const { metadata } = summary;
    assert.deepEqual(
      [
        metadata.trigger,
        metadata.summarized_count,
        metadata.covers_from,
        metadata.covers_until,
        metadata.tokens_before,
      ],
      ['auto', TURNS * 2 - 4, before.messages[0]?.id, before.messages.at(-5)?.id, pressure.tokens],
    );
    const after = await owner(
      'GET',
      `/channels/${id}/pressure`,
      pressureReply.extend({ leaf_id: z.string() }),
    );
    assert.deepEqual(
      [after.leaf_id, after.boundary_id, after.tokens, after.over_threshold, after.messages],
      [summary.id, summary.id, metadata.tokens_after, false, 4],
    );

    const now = new Date().toISOString();
    const { usage } = await admin(
      'GET',
      `/admin/usage?day=${now.slice(0, 10)}`,
      z.object({
        usage: z.array(
          z.looseObject({
            channel_id: z.string(),
            model: z.string(),
            metadata: z.looseObject({ trigger: z.string() }),
          }),
        ),
      }),
    );
    assert.deepEqual(
      usage.map((entry) => [entry.channel_id, entry.model, entry.metadata.trigger]),
      [[id, 'extractive', 'auto']],
    );
    const { audit } = await admin(
      'GET',
      `/admin/audit?month=${now.slice(0, 7)}`,
      z.object({
        audit: z.array(z.looseObject({ action: z.string(), actor: z.string(), resource: z.string() })),
      }),
    );
    assert.deepEqual(
      audit
        .filter(({ action }) => action === 'compaction.auto')
        .map(({ actor, resource }) => [actor, resource]),
      [['system:compaction', `channel:${id}`]],
    );

    const sqs = new SQSClient(clientConfig(service));
    const event = await eventually('the event', async () => {
      const { Messages = [] } = await sqs.send(
        new ReceiveMessageCommand({ QueueUrl: aws.outputs.HeardUrl, WaitTimeSeconds: 1 }),
      );
      return Messages[0]?.Body === undefined ? undefined : JSON.parse(Messages[0].Body);
    });
    sqs.destroy();
    assert.deepEqual(
      [
        event['detail-type'],
        event.source,
        event.detail.session_id,
        event.detail.summary_id,
        event.detail.tokens_before,
        event.detail.tokens_after,
        event.detail.summary,
      ],
      [
        'compaction.result',
        'compaction_service',
        id,
        summary.id,
        metadata.tokens_before,
        metadata.tokens_after,
        summary.content,
      ],
    );
    assert.ok(
      log.some(({ message }) => message.startsWith(`✅ compaction: channel ${id} done (20 messages → `)),
    );

    const undone = await owner('POST', `/channels/${id}/undo`, z.unknown());
    assert.ok(undone);
    assert.deepEqual(
      (await contextOf(service, id)).messages,
      before.messages,
      'nothing that was written is lost',
    );
  });

  it('the template alone decides the wiring: under another queue name it still works', async () => {
    const service = await startService({ edit: withRenamedQueue });
    const id = await importTalk(service);
    await switchOn(service);
    await compacted(service, id);
  });

  it('a compactor that is killed while the model works: the message comes back, one summary, nothing lost', async () => {
    const model = await startMessagesApi((_request, call) =>
      call === 1 ? { hang: true } : { text: 'Orders A-1000 to A-1023 ship from their depots.' },
    );
    const service = await startService({
      context: { modelBaseUrl: model.url },
      environment: { ANTHROPIC_API_KEY: 'sk-test' },
    });
    const id = await importTalk(service);
    const before = await contextOf(service, id);
    await switchOn(service);
    await eventually('the model call', async () => (model.requests.length > 0 ? true : undefined));
    const [pid] = service.aws.functions.compactor?.pids() ?? [];
    assert.ok(pid);
    process.kill(pid, 'SIGKILL');
    const context = await compacted(service, id);
    assert.equal(context.messages[0]?.content, 'Orders A-1000 to A-1023 ship from their depots.');
    assert.equal(context.messages[0]?.metadata.model, 'claude-haiku-5-5');
    await service.aws.idle();
    const path = await service.owner(
      'GET',
      `/channels/${id}/path?limit=200`,
      z.object({ messages: z.array(messageReply) }),
    );
    assert.equal(path.messages.filter(({ metadata }) => metadata.type === 'summary').length, 1);
    assert.deepEqual(
      path.messages.filter(({ metadata }) => metadata.type !== 'summary').map(({ id: m }) => m),
      before.messages.map(({ id: m }) => m),
    );
  });

  it('a request on the bus compacts, too, and asynchronous summarizing is polled to its end', async () => {
    const service = await startService();
    const id = await importTalk(service);
    const bus = new EventBridgeClient(clientConfig(service));
    await bus.send(
      new PutEventsCommand({
        Entries: [
          {
            EventBusName: service.aws.outputs.EventBusName,
            Source: 'app',
            DetailType: 'compaction.request',
            Detail: JSON.stringify({ session_id: id }),
          },
        ],
      }),
    );
    bus.destroy();
    const context = await compacted(service, id);
    assert.equal(context.messages[0]?.metadata.trigger, 'manual');

    const other = await importTalk(service);
    const token = await service.aws.mintToken({ sub: 'ann' });
    const headers = { authorization: `Bearer ${token}`, prefer: 'respond-async' };
    const accepted = await fetch(new URL(`/channels/${other}/summarize`, service.aws.apiUrl), {
      method: 'POST',
      headers,
    });
    assert.equal(accepted.status, 202);
    const job = await eventually('the job', async () => {
      const found = await service.owner(
        'GET',
        accepted.headers.get('location') ?? '',
        z.looseObject({ status: z.string() }),
      );
      return found.status === 'done' || found.status === 'failed' ? found : undefined;
    });
    assert.equal(job.status, 'done', JSON.stringify(job));
    for (const bad of [
      '',
      'Bearer x',
      `Bearer ${await service.aws.mintToken({ sub: 'ann', expiresIn: -600 })}`,
    ]) {
      const refused = await fetch(new URL('/channels', service.aws.apiUrl), {
        headers: { authorization: bad },
      });
      assert.equal(refused.status, 401);
    }
  });
});
