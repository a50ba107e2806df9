import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after } from 'node:test';

/** One answer of the server. */
export type Scripted =
  | {
      readonly text: string;
      /** Stop reason; `end_turn` when absent. */
      readonly stop?: string | null;
      readonly usage?: Readonly<Record<string, number>>;
      readonly delayMs?: number;
    }
  | { readonly status: number; readonly headers?: Record<string, string> }
  /** A body as it is; JSON by its content type unless said otherwise. */
  | { readonly raw: string; readonly contentType?: string }
  /** Nothing is ever answered. */
  | { readonly hang: true }
  /** Status and headers come, the body never ends. */
  | { readonly stall: true }
  /** The connection is reset. */
  | { readonly reset: true };

export type MessagesRequest = {
  readonly model: string;
  readonly system: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly max_tokens: number;
  readonly temperature?: number;
};

export type MessagesApi = {
  readonly url: string;
  /** What was asked, in order, retries included. */
  readonly requests: MessagesRequest[];
  /** The `authorization` header of each request. */
  readonly keys: string[];
  readonly paths: string[];
};

const servers: Server[] = [];
after(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

type TextAnswer = Extract<Scripted, { text: string }>;

const messageOf = ({ text, stop = 'end_turn', usage }: TextAnswer, model: string): object => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model,
  content: [
    { type: 'thinking', thinking: 'hm', signature: 's' },
    { type: 'text', text },
  ],
  stop_reason: stop,
  stop_sequence: null,
  usage: usage ?? { input_tokens: 1_000, output_tokens: 50 },
});

function answer(response: ServerResponse, scripted: Scripted, model: string): void {
  const send = (status: number, body: string, headers: Record<string, string> = {}): void => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
  };
  if ('hang' in scripted) return;
  if ('stall' in scripted) {
    response.writeHead(200, { 'content-type': 'application/json' }).write('{"id":');
    return;
  }
  if ('reset' in scripted) {
    response.socket?.resetAndDestroy();
    return;
  }
  if ('raw' in scripted) {
    send(200, scripted.raw, { 'content-type': scripted.contentType ?? 'application/json' });
    return;
  }
  if ('status' in scripted) {
    const error = { type: 'error', error: { type: 'x', message: 'secret detail' } };
    send(scripted.status, JSON.stringify(error), scripted.headers);
    return;
  }
  const body = JSON.stringify(messageOf(scripted, model));
  if (scripted.delayMs === undefined) send(200, body);
  else setTimeout(() => send(200, body), scripted.delayMs).unref();
}

/** A server on this machine that speaks the Messages API; the last answer of the script repeats. It ends with the test. */
export async function startMessagesApi(
  script: readonly Scripted[] | ((request: MessagesRequest, call: number) => Scripted),
): Promise<MessagesApi> {
  const requests: MessagesRequest[] = [];
  const keys: string[] = [];
  const paths: string[] = [];
  const server = createServer(async (request, response) => {
    const body = JSON.parse(await bodyOf(request)) as MessagesRequest;
    requests.push(body);
    keys.push(String(request.headers.authorization));
    paths.push(String(request.url));
    const call = requests.length;
    const scripted =
      typeof script === 'function'
        ? script(body, call)
        : (script[Math.min(call, script.length) - 1] ?? { hang: true });
    answer(response, scripted, body.model);
  });
  servers.push(server);
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests, keys, paths };
}
