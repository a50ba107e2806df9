import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Account } from '../types.ts';
import type { Authorization } from './authorizer.ts';

export type EventSource = {
  readonly request: IncomingMessage;
  readonly body: Buffer;
  readonly url: URL;
  readonly routeKey: string;
  readonly stage: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly jwt: Authorization | undefined;
  readonly apiId: string;
  readonly account: Account;
};

/** The event of payload format 2.0 that a function behind an HTTP API receives. */
export function toEvent(source: EventSource): object {
  const { request, body, url, routeKey, parameters, stage } = source;
  const cookies = request.headers.cookie?.split(/;\s*/);
  const query = multiple([...url.searchParams]);
  const { 'content-type': type, 'content-encoding': encoding } = request.headers;
  const isText = body.length === 0 || (encoding === undefined && isTextual(type));
  return {
    version: '2.0',
    routeKey,
    rawPath: url.pathname,
    rawQueryString: url.search.slice(1),
    ...(cookies ? { cookies } : {}),
    headers: headersOf(request),
    ...(Object.keys(query).length > 0 ? { queryStringParameters: query } : {}),
    requestContext: requestContext(source),
    ...(Object.keys(parameters).length > 0 ? { pathParameters: decoded(parameters) } : {}),
    ...(stage === '$default' ? {} : { stageVariables: {} }),
    ...(body.length > 0 ? { body: isText ? body.toString() : body.toString('base64') } : {}),
    isBase64Encoded: !isText,
  };
}

function requestContext({ request, url, routeKey, stage, jwt, apiId, account }: EventSource): object {
  const now = new Date();
  return {
    accountId: account.accountId,
    apiId,
    ...(jwt ? { authorizer: { jwt } } : {}),
    domainName: url.host,
    domainPrefix: apiId,
    http: {
      method: request.method,
      path: url.pathname,
      protocol: `HTTP/${request.httpVersion}`,
      sourceIp: request.socket.remoteAddress ?? '127.0.0.1',
      userAgent: request.headers['user-agent'] ?? '',
    },
    requestId: randomUUID(),
    routeKey,
    stage,
    time: logTime(now),
    timeEpoch: now.getTime(),
  };
}

/** Names in lower case, several values joined by commas, cookies apart. */
function headersOf(request: IncomingMessage): Record<string, string> {
  const pairs: [string, string][] = [];
  for (let position = 0; position + 1 < request.rawHeaders.length; position += 2) {
    const name = (request.rawHeaders[position] ?? '').toLowerCase();
    if (name !== 'cookie') pairs.push([name, request.rawHeaders[position + 1] ?? '']);
  }
  return multiple(pairs);
}

function multiple(pairs: readonly (readonly [string, string])[]): Record<string, string> {
  const values: Record<string, string> = {};
  for (const [name, value] of pairs)
    values[name] = Object.hasOwn(values, name) ? `${values[name]},${value}` : value;
  return values;
}

function decoded(parameters: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, decode(value)]));
}

function decode(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

function isTextual(type = 'text/plain'): boolean {
  return /^text\/|^application\/(?:[\w.+-]*\+)?(?:json|xml|javascript)\b|^application\/x-www-form-urlencoded/i.test(
    type,
  );
}

/** As in access logs: `01/Mar/2026:12:00:00 +0000`. */
function logTime(time: Date): string {
  const [, day, month, year, clock] = /^\w+, (\d+) (\w+) (\d+) ([\d:]+)/.exec(time.toUTCString()) ?? [];
  return `${day}/${month}/${year}:${clock} +0000`;
}
