import * as z from 'zod';
import type { EventSourceMapping } from './event-source/mapping.ts';
import type { AsyncInvoker } from './functions/async.ts';
import type { LambdaFunction } from './functions/function.ts';
import { ServiceError } from './service.ts';

/** What the REST operations of Lambda answer. */
export type RestAnswer = {
  readonly status: number;
  readonly body: string;
  readonly headers?: Record<string, string>;
};

export type RestRequest = {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
};

type Parts = {
  readonly functions: readonly LambdaFunction[];
  readonly mappings: readonly EventSourceMapping[];
  readonly invoker: AsyncInvoker;
};

type Operation = (parts: Parts, id: string, request: RestRequest) => Promise<RestAnswer> | RestAnswer;

const FUNCTION = '/[\\d-]+/functions/([^/]+)';
const MAPPINGS = '/[\\d-]+/event-source-mappings';

const OPERATIONS: readonly (readonly [method: string, path: RegExp, operation: Operation])[] = [
  ['POST', new RegExp(`^${FUNCTION}/invocations$`), invoke],
  ['PUT', new RegExp(`^${FUNCTION}/concurrency$`), reserve],
  ['GET', new RegExp(`^${FUNCTION}/concurrency$`), (parts, id) => concurrency(functionOf(parts, id))],
  ['DELETE', new RegExp(`^${FUNCTION}/concurrency$`), release],
  ['GET', new RegExp(`^${MAPPINGS}/?$`), listMappings],
  ['GET', new RegExp(`^${MAPPINGS}/([^/]+)$`), (parts, id) => json(describe(mappingOf(parts, id)))],
  ['PUT', new RegExp(`^${MAPPINGS}/([^/]+)$`), updateMapping],
];

/** Lambda's control API: invocations, reserved concurrency and event source mappings. Throws `ServiceError`. */
export async function callLambda(parts: Parts, request: RestRequest): Promise<RestAnswer> {
  for (const [method, path, operation] of OPERATIONS) {
    const match = method === request.method ? path.exec(request.path) : null;
    if (match) return operation(parts, decodeURIComponent(match[1] ?? ''), request);
  }
  throw new ServiceError(
    'UnknownOperationException',
    `The embedded AWS does not know the Lambda call ${request.method} ${request.path}.`,
    404,
  );
}

function json(body: object, status = 200): RestAnswer {
  return { status, body: JSON.stringify(body) };
}

function functionOf({ functions }: Parts, id: string): LambdaFunction {
  const found = functions.find(
    ({ config }) => config.name === id || config.arn === id || config.logicalId === id,
  );
  if (found) return found;
  throw new ServiceError('ResourceNotFoundException', `Function not found: ${id}`, 404);
}

function mappingOf({ mappings }: Parts, id: string): EventSourceMapping {
  const found = mappings.find((mapping) => mapping.id === id);
  if (found) return found;
  throw new ServiceError('ResourceNotFoundException', 'The resource you requested does not exist.', 404);
}

async function invoke(parts: Parts, id: string, { headers, body }: RestRequest): Promise<RestAnswer> {
  const target = functionOf(parts, id);
  const payload = body === '' ? '{}' : body;
  if (headers['x-amz-invocation-type'] === 'Event') {
    parts.invoker.accept(target, payload);
    return { status: 202, body: '' };
  }
  const outcome = await target.invoke(payload);
  if (outcome.ok) return { status: 200, body: outcome.payload };
  if (outcome.kind === 'throttled')
    throw new ServiceError('TooManyRequestsException', outcome.error.errorMessage, 429);
  return {
    status: 200,
    body: JSON.stringify(outcome.error),
    headers: { 'x-amz-function-error': 'Unhandled' },
  };
}

const reservation = z.object({ ReservedConcurrentExecutions: z.number().int().min(0) });

function reserve(parts: Parts, id: string, { body }: RestRequest): RestAnswer {
  const target = functionOf(parts, id);
  target.reserve(reservation.parse(JSON.parse(body)).ReservedConcurrentExecutions);
  return concurrency(target);
}

function release(parts: Parts, id: string): RestAnswer {
  functionOf(parts, id).reserve(undefined);
  return { status: 204, body: '' };
}

function concurrency(target: LambdaFunction): RestAnswer {
  return json(target.reserved === undefined ? {} : { ReservedConcurrentExecutions: target.reserved });
}

function listMappings(parts: Parts, _id: string, { query }: RestRequest): RestAnswer {
  const name = query.get('FunctionName');
  const queueArn = query.get('EventSourceArn');
  const wanted = parts.mappings.filter(
    (mapping) =>
      (name === null || [mapping.target.config.name, mapping.target.config.arn].includes(name)) &&
      (queueArn === null || mapping.queue.arn === queueArn),
  );
  return json({ EventSourceMappings: wanted.map(describe) });
}

const change = z.object({
  Enabled: z.boolean().optional(),
  ScalingConfig: z.object({ MaximumConcurrency: z.number().int().min(2).max(1000).optional() }).optional(),
});

function updateMapping(parts: Parts, id: string, { body }: RestRequest): RestAnswer {
  const mapping = mappingOf(parts, id);
  const { Enabled: enabled, ScalingConfig: scaling } = change.parse(JSON.parse(body));
  mapping.update({
    ...(enabled === undefined ? {} : { enabled }),
    ...(scaling?.MaximumConcurrency === undefined ? {} : { maximumConcurrency: scaling.MaximumConcurrency }),
  });
  return json(describe(mapping), 202);
}

function describe(mapping: EventSourceMapping): object {
  const { enabled, maximumConcurrency } = mapping.settings;
  return {
    UUID: mapping.id,
    BatchSize: mapping.batchSize,
    EventSourceArn: mapping.queue.arn,
    FunctionArn: mapping.target.config.arn,
    State: enabled ? 'Enabled' : 'Disabled',
    ScalingConfig: { MaximumConcurrency: maximumConcurrency },
  };
}
