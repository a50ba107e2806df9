import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import * as z from 'zod';
import { UnsupportedTemplateError } from '../errors.ts';
import type { LambdaFunction } from '../functions/function.ts';
import { readBody } from '../support/body.ts';
import { requestUrl } from '../support/request-url.ts';
import { pause } from '../support/wait.ts';
import { find } from '../template/find.ts';
import { noEffect, parseProperties } from '../template/properties.ts';
import type { Resource } from '../template/resolve.ts';
import type { Account, Log } from '../types.ts';
import { type Authorization, type Authorizer, createAuthorizer } from './authorizer.ts';
import { type Cors, corsConfiguration, corsHeaders, preflightHeaders } from './cors.ts';
import { toEvent } from './event.ts';
import { type Answer, fromFunction, message, send } from './response.ts';
import { createRouter, type Match, type Router } from './routes.ts';

const apiProperties = z.strictObject({
  Name: z.string(),
  ProtocolType: z.literal('HTTP', 'only HTTP APIs run here'),
  CorsConfiguration: corsConfiguration.optional(),
  Description: noEffect,
  DisableExecuteApiEndpoint: noEffect,
  Tags: noEffect,
});
const stageProperties = z.strictObject({
  ApiId: z.string(),
  StageName: z.string(),
  AutoDeploy: noEffect,
  AccessLogSettings: noEffect,
  DefaultRouteSettings: noEffect,
  RouteSettings: noEffect,
  Description: noEffect,
  Tags: noEffect,
});
const routeProperties = z.strictObject({
  ApiId: z.string(),
  RouteKey: z.string(),
  Target: z.string().regex(/^integrations\//),
  AuthorizationType: z.enum(['NONE', 'JWT']).default('NONE'),
  AuthorizerId: z.string().optional(),
  AuthorizationScopes: z.array(z.string()).default([]),
  OperationName: noEffect,
});
const integrationProperties = z.strictObject({
  ApiId: z.string(),
  IntegrationType: z.literal('AWS_PROXY', 'only functions can answer here'),
  IntegrationUri: z.string(),
  PayloadFormatVersion: z.literal('2.0', 'only payload format 2.0 is known here'),
  IntegrationMethod: noEffect,
  TimeoutInMillis: z.coerce.number().int().min(50).max(30_000).default(30_000),
  Description: noEffect,
});

type Endpoint = {
  readonly target: LambdaFunction;
  readonly timeoutMs: number;
  readonly authorizer: Authorizer | undefined;
  readonly scopes: readonly string[];
};

type Api = {
  readonly id: string;
  readonly stage: string;
  readonly cors: Cors | undefined;
  readonly router: Router<Endpoint>;
};

/** An HTTP API takes at most 10 MB; the headers' limit is set on the server. */
const BODY_LIMIT = 10 * 1024 * 1024;
export const HEADER_LIMIT = 10_240;

/** The HTTP API of a template in front of its functions: routes, authorizer, CORS and limits as on AWS. */
export class HttpFront {
  readonly #api: Api;
  readonly #account: Account;
  readonly #log: Log;
  #draining = false;

  constructor(
    resources: readonly Resource[],
    parts: { functions: readonly LambdaFunction[]; account: Account; log: Log },
  ) {
    this.#account = parts.account;
    this.#log = parts.log;
    this.#api = defineApi(resources, parts.functions, (problem) =>
      parts.log({ level: 'error', source: 'http', message: problem }),
    );
  }

  readonly handle: RequestListener = (request, response) => {
    this.#answer(request)
      .catch((error: unknown) => {
        // The caller went away in the middle of its request
        if (response.destroyed) return message(499, 'Client Closed Request');
        this.#log({ level: 'error', source: 'http', message: String(error) });
        return message(500, 'Internal Server Error');
      })
      .then((answer) => this.#send(request, response, answer));
  };

  /** Refuses new requests while those that run come to their end. */
  drain(): void {
    this.#draining = true;
  }

  async #answer(request: IncomingMessage): Promise<Answer> {
    if (this.#draining) return message(503, 'Service Unavailable');
    const { stage, router, cors } = this.#api;
    const { method = 'GET' } = request;
    const url = requestUrl(request, `http://${request.headers.host ?? 'localhost'}`);
    const path = stage === '$default' ? url.pathname : withoutStage(url.pathname, stage);
    const match = path === undefined ? undefined : router(method, path);
    const isPreflight =
      method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined;
    // A route of its own for OPTIONS, with its authorizer, comes before the API's own answer.
    if (cors && isPreflight && !match?.value.authorizer)
      return { status: 204, headers: preflightHeaders(cors, request.headers.origin), body: Buffer.alloc(0) };
    if (!match) return message(404, 'Not Found');
    const verdict = await authorize(match, request, url);
    if (!verdict.allowed) return verdict.answer;
    const body = await readBody(request, BODY_LIMIT);
    if (body === undefined) return message(413, 'Request Entity Too Large');
    return this.#invoke(
      match,
      toEvent({
        request,
        body,
        url,
        routeKey: match.key,
        stage,
        parameters: match.parameters,
        jwt: verdict.jwt,
        apiId: this.#api.id,
        account: this.#account,
      }),
    );
  }

  async #invoke({ value: { target, timeoutMs } }: Match<Endpoint>, event: object): Promise<Answer> {
    const abort = new AbortController();
    const late = pause(timeoutMs, abort.signal).then(() => undefined);
    const outcome = await Promise.race([target.invoke(JSON.stringify(event)), late]);
    abort.abort();
    // The function goes on, as on AWS; only its answer is lost.
    if (!outcome) return message(503, 'Service Unavailable');
    if (outcome.ok) return fromFunction(outcome.payload);
    if (outcome.kind === 'throttled') return message(503, 'Service Unavailable');
    if (outcome.error.errorType === 'RequestEntityTooLargeException')
      return message(413, 'Request Entity Too Large');
    return message(500, 'Internal Server Error');
  }

  #send(request: IncomingMessage, response: ServerResponse, answer: Answer): void {
    const { cors } = this.#api;
    const isPreflight = answer.status === 204 && 'access-control-allow-methods' in answer.headers;
    const headers =
      cors && !isPreflight
        ? { ...answer.headers, ...corsHeaders(cors, request.headers.origin) }
        : answer.headers;
    // What is left of a refused body must not keep the connection busy
    if (!request.complete) response.setHeader('connection', 'close');
    send(response, { ...answer, headers });
  }
}

type Allowed = { allowed: true; jwt: Authorization | undefined } | { allowed: false; answer: Answer };

async function authorize(match: Match<Endpoint>, request: IncomingMessage, url: URL): Promise<Allowed> {
  const { authorizer, scopes } = match.value;
  if (!authorizer) return { allowed: true, jwt: undefined };
  const verdict = await authorizer(
    {
      header: (name) => [request.headers[name]].flat()[0],
      query: (name) => url.searchParams.get(name) ?? undefined,
    },
    scopes,
  );
  if (verdict.allowed) return verdict;
  const answer = message(verdict.status, verdict.status === 401 ? 'Unauthorized' : 'Forbidden');
  return {
    allowed: false,
    answer:
      verdict.status === 401
        ? { ...answer, headers: { ...answer.headers, 'www-authenticate': 'Bearer' } }
        : answer,
  };
}

function withoutStage(path: string, stage: string): string | undefined {
  if (path === `/${stage}`) return '/';
  return path.startsWith(`/${stage}/`) ? path.slice(stage.length + 1) : undefined;
}

function defineApi(
  resources: readonly Resource[],
  functions: readonly LambdaFunction[],
  onProblem: (message: string) => void,
): Api {
  const of = (type: string) => resources.filter((resource) => resource.type === `AWS::ApiGatewayV2::${type}`);
  const [api, second] = of('Api');
  if (!api) throw new UnsupportedTemplateError('Template', 'there is no HTTP API in it.');
  if (second)
    throw new UnsupportedTemplateError(
      second.logicalId,
      'the embedded AWS runs one HTTP API, and this is the second.',
    );
  const [stage, otherStage] = of('Stage');
  if (!stage || otherStage)
    throw new UnsupportedTemplateError(api.logicalId, 'an HTTP API needs exactly one stage here.');
  const authorizers = of('Authorizer').map((resource) => ({
    id: resource.ref,
    check: createAuthorizer(resource, onProblem),
  }));
  const integrations = of('Integration').map((resource) => ({
    id: resource.ref,
    ...integration(resource, functions),
  }));
  const routes = of('Route').map((resource) => {
    const { RouteKey, Target, AuthorizationType, AuthorizerId, AuthorizationScopes } = parseProperties(
      resource,
      routeProperties,
    );
    const where = `${resource.logicalId} (${resource.type})`;
    const { target, timeoutMs } = find(
      where,
      'integration',
      Target.slice('integrations/'.length),
      integrations,
      ({ id }) => [id],
    );
    const authorizer =
      AuthorizationType === 'NONE'
        ? undefined
        : find(where, 'authorizer', AuthorizerId ?? '', authorizers, ({ id }) => [id]).check;
    return { key: RouteKey, value: { target, timeoutMs, authorizer, scopes: AuthorizationScopes } };
  });
  const { CorsConfiguration: cors } = parseProperties(api, apiProperties);
  return {
    id: api.ref,
    stage: parseProperties(stage, stageProperties).StageName,
    cors,
    router: createRouter(api.logicalId, routes),
  };
}

function integration(
  resource: Resource,
  functions: readonly LambdaFunction[],
): { target: LambdaFunction; timeoutMs: number } {
  const { IntegrationUri: uri, TimeoutInMillis: timeoutMs } = parseProperties(
    resource,
    integrationProperties,
  );
  const where = `${resource.logicalId} (${resource.type})`;
  // Either the function's ARN or the ARN of its invocation, which holds it
  const target = find(where, 'function', uri, functions, ({ config }) => [
    config.arn,
    ...(uri.includes(`/functions/${config.arn}/invocations`) ? [uri] : []),
  ]);
  return { target, timeoutMs };
}
