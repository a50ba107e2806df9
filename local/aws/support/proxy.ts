import {
  Agent,
  type ClientRequest,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { ServiceError } from '../service.ts';
import { requestUrl } from './request-url.ts';

const agent = new Agent({ keepAlive: true, maxSockets: 64 });

/** Hands a request on as it is and pipes the answer back. Rejects with `ServiceError` when the engine is not there. */
export function proxy(endpoint: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  return new Promise((resolve, reject) => {
    const upstream = open(endpoint, request, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
      answer.once('end', resolve);
      answer.once('error', reject);
    });
    upstream.once('error', (error) => reject(unreachable(error)));
    response.once('close', () => {
      upstream.destroy();
      resolve();
    });
    request.pipe(upstream);
  });
}

/** Hands a request with another body on and returns the whole answer. */
export function forward(
  endpoint: string,
  request: IncomingMessage,
  body: Buffer,
  closed: AbortSignal,
): Promise<{ status: number; headers: IncomingMessage['headers']; body: Buffer }> {
  return new Promise((resolve, reject) => {
    const upstream = open(endpoint, request, async (answer) => {
      try {
        const chunks: Buffer[] = [];
        for await (const chunk of answer as AsyncIterable<Buffer>) chunks.push(chunk);
        resolve({ status: answer.statusCode ?? 502, headers: answer.headers, body: Buffer.concat(chunks) });
      } catch (error) {
        reject(error);
      }
    });
    upstream.once('error', (error) => reject(unreachable(error)));
    closed.addEventListener('abort', () => upstream.destroy(), { once: true });
    upstream.setHeader('content-length', body.length);
    upstream.end(body);
  });
}

function open(
  endpoint: string,
  request: IncomingMessage,
  onAnswer: (answer: IncomingMessage) => void,
): ClientRequest {
  const url = requestUrl(request, endpoint);
  const headers = { ...request.headers, host: url.host };
  return httpRequest(url, { method: request.method ?? 'POST', headers, agent }, onAnswer);
}

function unreachable(error: Error): ServiceError {
  return new ServiceError('ServiceUnavailable', `The engine does not answer: ${error.message}`, 503);
}
