import { EventBus } from './bus.ts';
import { createTable } from './dynamodb/tables.ts';
import { defineMapping } from './event-source/define.ts';
import { EventSourceMapping } from './event-source/mapping.ts';
import { readAssets } from './functions/assets.ts';
import { AsyncInvoker } from './functions/async.ts';
import { defineFunction } from './functions/define.ts';
import { LambdaFunction } from './functions/function.ts';
import { retryPolicies } from './functions/invoke-config.ts';
import { HttpFront } from './http/front.ts';
import { Scheduler } from './scheduler.ts';
import { Secrets } from './secrets.ts';
import { createQueues, type Queue } from './sqs.ts';
import { type AwsCaller, callAws } from './support/aws-json.ts';
import type { Watchdog } from './support/watchdog.ts';
import type { Resource } from './template/resolve.ts';
import type { Account, EmbeddedAwsOptions, Log } from './types.ts';

/** Everything that a template wires together, connected and not yet started. */
export type Wiring = {
  readonly functions: readonly LambdaFunction[];
  readonly queues: readonly Queue[];
  readonly mappings: readonly EventSourceMapping[];
  readonly invoker: AsyncInvoker;
  readonly bus: EventBus;
  readonly scheduler: Scheduler;
  readonly secrets: Secrets;
  readonly front: HttpFront | undefined;
};

export const SCHEDULE_MINUTE_MS = 60_000;

/** Builds the parts in the order in which they name each other; the engines already answer behind the gateway. */
export async function wire(
  resources: readonly Resource[],
  parts: { options: EmbeddedAwsOptions; account: Account; caller: AwsCaller; watchdog: Watchdog; log: Log },
): Promise<Wiring> {
  const { options, account, caller, watchdog, log } = parts;
  const minuteMs = options.schedule?.minuteMs ?? SCHEDULE_MINUTE_MS;
  const of = (...types: string[]) => resources.filter(({ type }) => types.includes(type));
  const functions = await defineFunctions(of('AWS::Lambda::Function'), options, account, watchdog, log);
  const secrets = new Secrets(of('AWS::SecretsManager::Secret'), options.secrets);
  const queues = await createQueues(caller, of('AWS::SQS::Queue'));
  const sendToQueue = async (queueArn: string, body: string): Promise<void> => {
    const queue = queues.find(({ arn }) => arn === queueArn);
    if (queue) await callAws(caller, 'sqs', 'SendMessage', { QueueUrl: queue.url, MessageBody: body });
  };
  const invoker = new AsyncInvoker({ minuteMs, log, sendToQueue });
  const retries = retryPolicies(of('AWS::Lambda::EventInvokeConfig'));
  const targets = { functions, queues, invoker, retries, sendToQueue };
  const mappings = of('AWS::Lambda::EventSourceMapping').map(
    (resource) =>
      new EventSourceMapping(defineMapping(resource, queues, functions), { caller, log, minuteMs }),
  );
  const bus = new EventBus(resources, targets, account, log);
  const scheduler = new Scheduler(of('AWS::Scheduler::Schedule'), targets, { account, minuteMs, log });
  const front =
    of('AWS::ApiGatewayV2::Api').length === 0
      ? undefined
      : new HttpFront(resources, { functions, account, log });
  for (const table of of('AWS::DynamoDB::Table', 'AWS::DynamoDB::GlobalTable'))
    await createTable(caller, table);
  return { functions, queues, mappings, invoker, bus, scheduler, secrets, front };
}

async function defineFunctions(
  resources: readonly Resource[],
  options: EmbeddedAwsOptions,
  account: Account,
  watchdog: Watchdog,
  log: Log,
): Promise<readonly LambdaFunction[]> {
  if (resources.length === 0) return [];
  const assets = await readAssets(options.assemblyDir);
  const configs = await Promise.all(
    resources.map((resource) => defineFunction(resource, assets, account, options.environment ?? {})),
  );
  return configs.map((config) => new LambdaFunction(config, watchdog, log));
}
