import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { LambdaFunction } from '../functions/function.ts';
import { readBody } from '../support/body.ts';
import { requestUrl } from '../support/request-url.ts';
import { pause } from '../support/wait.ts';
import type { Resource } from '../template/resolve.ts';
import type { Account, Log } from '../types.ts';
import type { Authorization } from './authorizer.ts';
import { corsHeaders, preflightHeaders } from './cors.ts';
import { type Api, defineApi, type Endpoint } from './define.ts';
import { toEvent } from './event.ts';
import { type Answer, fromFunction, message, send } from './response.ts';
import type { Match } from './routes.ts';

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
