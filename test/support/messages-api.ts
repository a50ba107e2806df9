import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after } from 'node:test';

export type Scripted =
  | { readonly text: string; readonly stop?: string }
  | { readonly status: number; readonly headers?: Record<string, string> }
  | { readonly raw: string }
  | { readonly hang: true }
  | { readonly reset: true };

export type MessagesRequest = {
  readonly model: string;
  readonly system: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly max_tokens: number;
};

export type MessagesApi = {
  readonly url: string;
  readonly requests: MessagesRequest[];
  readonly keys: string[];
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

function answer(response: ServerResponse, scripted: Scripted, model: string): void {
  const send = (status: number, body: string, headers: Record<string, string> = {}): void => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
  };
  if ('hang' in scripted) return;
  if ('reset' in scripted) {
    response.socket?.resetAndDestroy();
    return;
  }
  if ('raw' in scripted) {
    send(200, scripted.raw);
    return;
  }
  if ('status' in scripted) {
    send(
      scripted.status,
      JSON.stringify({ type: 'error', error: { type: 'x', message: 'secret detail' } }),
      scripted.headers,
    );
    return;
  }
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model,
    content: [
      { type: 'thinking', thinking: 'hm', signature: 's' },
      { type: 'text', text: scripted.text },
    ],
    stop_reason: scripted.stop ?? 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 1_000, output_tokens: 50 },
  };
  send(200, JSON.stringify(message));
}

/** A server on this machine that speaks the Messages API; the last answer of the script repeats. */
export async function startMessagesApi(
  script: readonly Scripted[] | ((request: MessagesRequest, call: number) => Scripted),
): Promise<MessagesApi> {
  const requests: MessagesRequest[] = [];
  const keys: string[] = [];
  const server = createServer(async (request, response) => {
    const body = JSON.parse(await bodyOf(request)) as MessagesRequest;
    requests.push(body);
    keys.push(String(request.headers.authorization));
    const call = requests.length;
    const scripted =
      typeof script === 'function'
        ? script(body, call)
        : (script[Math.min(call, script.length) - 1] ?? { hang: true });
    answer(response, scripted, body.model);
  });
  servers.push(server);
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests, keys };
}
