import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ZodError } from 'zod';
import type { RestAnswer, RestRequest } from './lambda-api.ts';
import { rewriteQueues } from './queue-urls.ts';
import { ServiceError } from './service.ts';
import { readBody } from './support/body.ts';
import { proxy } from './support/proxy.ts';
import { requestUrl } from './support/request-url.ts';
import type { Account, Log, LogEntry } from './types.ts';

/** The engines behind the gateway. */
export type Backends = {
  readonly account: Account;
  /** Endpoints of the engines; absent when the template has no table or no queue. */
  readonly dynamodb: string | undefined;
  readonly sqs: string | undefined;
  putEvents(input: unknown): Promise<object>;
  secrets(operation: string, input: unknown): object;
  lambda(request: RestRequest): Promise<RestAnswer>;
  /** A public document, such as an issuer's keys. */
  document(path: string): object | undefined;
};

/** One call of an SDK client, as far as the gateway reads it. Policies would be evaluated on this. */
export type Call = {
  /** Logical id of the calling function, or another access key. */
  readonly caller: string;
  readonly service: string;
  readonly operation: string;
};

const TARGETS: Readonly<Record<string, string>> = {
  DynamoDB_20120810: 'dynamodb',
  AmazonSQS: 'sqs',
  AWSEvents: 'events',
  secretsmanager: 'secretsmanager',
};

/** The largest body that is held in memory here: a full batch of messages with their attributes. */
const BODY_LIMIT = 8 * 1024 * 1024;

/** Answers every SDK client of the instance on one port: tells the service from the request and hands it on. */
export function createGateway(backends: Backends, log: Log) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const call = readCall(request);
    try {
      await dispatch(call, backends, request, response);
    } catch (error) {
      // The client went away, and with it the reason to answer.
      if (response.destroyed) return;
      const failure = asServiceError(error);
      respondWithError(response, failure);
      log({ ...logged(call, failure), source: 'gateway', resource: call.caller });
    }
  };
}

/** A refusal such as a missing secret is the client's to handle; what is not known here is a fault of this program. */
function logged(
  { service, operation }: Call,
  { type, message }: ServiceError,
): Pick<LogEntry, 'level' | 'message'> {
  const isOurs = ['UnknownOperationException', 'InternalFailure', 'ServiceUnavailable'].includes(type);
  return { level: isOurs ? 'error' : 'debug', message: `${service} ${operation}: ${message}` };
}

function readCall(request: IncomingMessage): Call {
  const { headers, method } = request;
  const [, caller = 'nobody', scope] =
    /Credential=([^/]+)\/\d{8}\/[^/]+\/([^/]+)\//.exec(headers.authorization ?? '') ?? [];
  const target = String(headers['x-amz-target'] ?? '');
  const [prefix = '', operation = ''] = target.split('.');
  const path = requestUrl(request, 'http://gateway').pathname;
  return { caller, service: scope ?? TARGETS[prefix] ?? '', operation: operation || `${method} ${path}` };
}

async function dispatch(
  call: Call,
  backends: Backends,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  switch (call.service) {
    case 'dynamodb':
      return proxy(endpointOf(call, backends.dynamodb), request, response);
    case 'sqs':
      return rewriteQueues(
        call.operation,
        backends.account,
        endpointOf(call, backends.sqs),
        request,
        response,
      );
    case 'events': {
      if (call.operation !== 'PutEvents') throw unknownOperation(call);
      return respond(response, await backends.putEvents(await readJson(request)));
    }
    case 'secretsmanager':
      return respond(response, backends.secrets(call.operation, await readJson(request)));
    case 'lambda':
      return respondRest(response, await backends.lambda(await readRest(request)));
    case '':
      return publicDocument(backends, request, response);
    default:
      throw unknownOperation(call);
  }
}

function endpointOf({ service, operation }: Call, endpoint: string | undefined): string {
  if (endpoint !== undefined) return endpoint;
  throw new ServiceError(
    'UnknownOperationException',
    `The stack has nothing that ${operation} of ${service} could work on.`,
  );
}

function unknownOperation({ service, operation }: Call): ServiceError {
  return new ServiceError(
    'UnknownOperationException',
    `The embedded AWS does not run ${operation} of ${service}.`,
  );
}

function publicDocument(backends: Backends, request: IncomingMessage, response: ServerResponse): void {
  const path = requestUrl(request, 'http://gateway').pathname;
  const document = request.method === 'GET' ? backends.document(path) : undefined;
  if (document === undefined)
    throw new ServiceError(
      'MissingAuthenticationToken',
      `${request.method} ${path} names no AWS service: it is not signed.`,
      403,
    );
  response.setHeader('access-control-allow-origin', '*');
  respond(response, document, 'application/json');
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const text = (await readText(request)) || '{}';
  try {
    return JSON.parse(text);
  } catch {
    throw new ServiceError('SerializationException', 'The body is not JSON.');
  }
}

async function readText(request: IncomingMessage): Promise<string> {
  const body = await readBody(request, BODY_LIMIT);
  if (body === undefined)
    throw new ServiceError('RequestEntityTooLargeException', 'The request is too large.', 413);
  return body.toString();
}

async function readRest(request: IncomingMessage): Promise<RestRequest> {
  const url = requestUrl(request, 'http://gateway');
  const { method = 'GET', headers } = request;
  return { method, path: url.pathname, query: url.searchParams, headers, body: await readText(request) };
}

function respond(response: ServerResponse, body: object, type = 'application/x-amz-json-1.1'): void {
  response
    .writeHead(200, { 'content-type': type, 'x-amzn-requestid': randomUUID() })
    .end(JSON.stringify(body));
}

function respondRest(response: ServerResponse, { status, body, headers = {} }: RestAnswer): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
}

function respondWithError(response: ServerResponse, { type, message, status }: ServiceError): void {
  if (response.headersSent) return void response.destroy();
  response
    .writeHead(status, {
      'content-type': 'application/x-amz-json-1.1',
      'x-amzn-errortype': type,
      'x-amzn-requestid': randomUUID(),
    })
    .end(JSON.stringify({ __type: type, message }));
}

function asServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  if (error instanceof ZodError)
    return new ServiceError('ValidationException', error.issues[0]?.message ?? 'invalid');
  return new ServiceError('InternalFailure', error instanceof Error ? error.message : String(error), 500);
}
