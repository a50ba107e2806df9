import type { ServerResponse } from 'node:http';

/** What is sent to the caller of the API. */
export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies?: readonly string[];
  readonly body: Buffer;
};

/** An answer of API Gateway itself, such as `{"message":"Unauthorized"}`. */
export function message(status: number, text: string): Answer {
  return {
    status,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify({ message: text })),
  };
}

const MALFORMED = message(500, 'Internal Server Error');

/** What a function returned, by payload format 2.0: with a status code as it says, else as the JSON body of a 200. */
export function fromFunction(payload: string): Answer {
  const result: unknown = JSON.parse(payload);
  if (typeof result !== 'object' || result === null || !('statusCode' in result)) {
    const body = typeof result === 'string' ? result : payload;
    return { status: 200, headers: { 'content-type': 'application/json' }, body: Buffer.from(body) };
  }
  const { statusCode, headers, cookies, body, isBase64Encoded } = result as Record<string, unknown>;
  const status = Number(statusCode);
  if (!Number.isInteger(status) || status < 100 || status > 599) return MALFORMED;
  if (body !== undefined && body !== null && typeof body !== 'string') return MALFORMED;
  return {
    status,
    headers: lowerCased(headers),
    ...(Array.isArray(cookies) ? { cookies: cookies.map(String) } : {}),
    body: Buffer.from(body ?? '', isBase64Encoded === true ? 'base64' : 'utf8'),
  };
}

function lowerCased(headers: unknown): Record<string, string> {
  const given = typeof headers === 'object' && headers !== null ? Object.entries(headers) : [];
  const named = Object.fromEntries(given.map(([name, value]) => [name.toLowerCase(), String(value)]));
  return { 'content-type': 'text/plain; charset=utf-8', ...named };
}

/** Headers that belong to the connection or are set from the body. */
const OWN_HEADERS = new Set(['content-length', 'transfer-encoding', 'connection', 'keep-alive']);

export function send(response: ServerResponse, answer: Answer): void {
  if (response.destroyed) return;
  response.statusCode = answer.status;
  for (const [name, value] of Object.entries(answer.headers))
    if (!OWN_HEADERS.has(name)) response.setHeader(name, value);
  if (answer.cookies?.length) response.setHeader('set-cookie', [...answer.cookies]);
  response.setHeader('content-length', answer.body.length);
  response.end(answer.body);
}
