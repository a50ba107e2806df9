import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { type DynamoDb, startDynamoDb } from './dynamodb/engine.ts';
import { EmbeddedAwsError } from './errors.ts';
import { type Backends, createGateway } from './gateway.ts';
import { HEADER_LIMIT } from './http/front.ts';
import { createIssuer, type Issuer } from './issuer.ts';
import { callLambda } from './lambda-api.ts';
import { describeResources } from './overview.ts';
import { RunningStack } from './running.ts';
import { ENGINE_ACCOUNT, startSqs } from './sqs.ts';
import { Cleanup } from './support/cleanup.ts';
import { listen } from './support/listen.ts';
import { lockDataDir } from './support/lock.ts';
import { startWatchdog, type Watchdog } from './support/watchdog.ts';
import { type ResolvedTemplate, resolveTemplate } from './template/resolve.ts';
import type { Account, EmbeddedAws, EmbeddedAwsOptions, Log } from './types.ts';
import { wire } from './wiring.ts';

/** Starts everything, or leaves nothing running. */
export async function launch(options: EmbeddedAwsOptions): Promise<EmbeddedAws> {
  const cleanup = new Cleanup();
  try {
    return await start(options, cleanup);
  } catch (error) {
    await cleanup.run();
    throw error;
  }
}

async function start(options: EmbeddedAwsOptions, cleanup: Cleanup): Promise<EmbeddedAws> {
  const log: Log = (entry) => options.onLog?.({ time: Date.now(), ...entry });
  const ports = await openPorts(options, cleanup);
  const account: Account = {
    region: options.region ?? 'us-east-1',
    accountId: options.accountId ?? ENGINE_ACCOUNT,
    stackName: options.stackName ?? 'local',
    gatewayUrl: ports.gatewayUrl,
    apiUrl: ports.apiUrl,
  };
  // Before anything is started or locked: a template that cannot run changes nothing.
  const template = resolveTemplate(options.template, account);
  if (options.dataDir !== undefined) cleanup.add(lockDataDir(options.dataDir));
  const watchdog = startWatchdog();
  cleanup.add(() => watchdog.stop());
  const [dynamodb, sqs, issuer] = await startEngines(options, account, template, watchdog, cleanup, log);
  const caller = { endpoint: account.gatewayUrl, region: account.region, accessKeyId: 'aws' };
  const backends: Mutable<Backends> = {
    account,
    dynamodb: dynamodb?.endpoint,
    sqs: sqs?.endpoint,
    putEvents: notYet,
    secrets: notYet,
    lambda: notYet,
    document: (path) => issuer?.document(path),
  };
  ports.gateway(createGateway(backends, log));
  const wiring = await wire(template.resources, { options, account, caller, watchdog, log });
  const { functions, mappings, invoker, bus, secrets, front } = wiring;
  cleanup.add(async () => void (await Promise.all(functions.map((each) => each.stop()))));
  backends.putEvents = (input) => bus.putEvents(input);
  backends.secrets = (operation, input) => secrets.call(operation, input);
  backends.lambda = (request) => callLambda({ functions, mappings, invoker }, request);
  if (front) ports.api(front.handle);
  const stack = new RunningStack(wiring, caller, cleanup, log);
  stack.start();
  return stack.facade(account, {
    outputs: template.outputs,
    resources: describeResources(template.resources, { account, dynamodb: dynamodb?.endpoint ?? '', wiring }),
    issuer,
  });
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

function notYet(): never {
  throw new EmbeddedAwsError('engine_failed', 'The embedded AWS is still starting.');
}

/** Both ports are open before the template is read, because it holds their addresses; until then they answer 503. */
async function openPorts(options: EmbeddedAwsOptions, cleanup: Cleanup) {
  const starting: RequestListener = (_request, response) => void response.writeHead(503).end();
  const handlers = { gateway: starting, api: starting };
  const gateway = await listen(options.gatewayPort ?? 0, 'AWS gateway', (request, response) =>
    handlers.gateway(request, response),
  );
  cleanup.add(() => gateway.close());
  const api = await listen(
    options.apiPort ?? 0,
    'API',
    (request, response) => handlers.api(request, response),
    { maxHeaderSize: HEADER_LIMIT },
  );
  cleanup.add(() => api.close());
  return {
    gatewayUrl: gateway.url,
    apiUrl: api.url,
    gateway: (handler: RequestListener) => {
      handlers.gateway = handler;
    },
    api: (handler: RequestListener) => {
      handlers.api = handler;
    },
  };
}

async function startEngines(
  options: EmbeddedAwsOptions,
  account: Account,
  template: ResolvedTemplate,
  watchdog: Watchdog,
  cleanup: Cleanup,
  log: Log,
) {
  const { dataDir } = options;
  const has = (...types: string[]) => template.resources.some(({ type }) => types.includes(type));
  const started = <T extends { stop(): Promise<void> }>(engine: T): T => {
    cleanup.add(() => engine.stop());
    return engine;
  };
  const sqsOptions = {
    region: account.region,
    ...(dataDir === undefined ? {} : { dataDir: join(dataDir, 'sqs') }),
  };
  const engines = await Promise.allSettled([
    has('AWS::DynamoDB::Table', 'AWS::DynamoDB::GlobalTable')
      ? startTables(options, watchdog, log).then(started)
      : undefined,
    has('AWS::SQS::Queue') ? startSqs(sqsOptions).then(started) : undefined,
    startIssuer(template, dataDir),
  ] as const);
  const [dynamodb, sqs, issuer] = engines;
  // Each one that did start has to be known before the first failure is told.
  if (dynamodb.status === 'rejected') throw dynamodb.reason;
  if (sqs.status === 'rejected') throw sqs.reason;
  if (issuer.status === 'rejected') throw issuer.reason;
  return [dynamodb.value, sqs.value, issuer.value] as const;
}

async function startTables(options: EmbeddedAwsOptions, watchdog: Watchdog, log: Log): Promise<DynamoDb> {
  const own = options.endpoints?.dynamodb ?? process.env.AWS_ENDPOINT_URL_DYNAMODB;
  if (own) return { endpoint: own, stop: async () => undefined };
  const { dataDir } = options;
  return startDynamoDb({
    watchdog,
    log,
    ...(dataDir === undefined ? {} : { file: join(dataDir, 'tables.db') }),
  });
}

async function startIssuer(
  { resources }: ResolvedTemplate,
  dataDir: string | undefined,
): Promise<Issuer | undefined> {
  const pool = resources.find(({ type }) => type === 'AWS::Cognito::UserPool');
  const clients = resources.filter(({ type }) => type === 'AWS::Cognito::UserPoolClient');
  return pool && createIssuer(pool, clients, dataDir);
}
