import type { IncomingMessage, ServerResponse } from 'node:http';
import { ServiceError } from './service.ts';
import { ENGINE_ACCOUNT } from './sqs.ts';
import { readBody } from './support/body.ts';
import { forward } from './support/proxy.ts';
import type { Account } from './types.ts';

const BODY_LIMIT = 8 * 1024 * 1024;

/**
 * Hands an SQS call on. The engine puts its own address and account into URLs and ARNs: clients get those of the gateway,
 * so that they never leave it.
 */
export async function rewriteQueues(
  operation: string,
  account: Account,
  endpoint: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await readBody(request, BODY_LIMIT);
  if (body === undefined) throw new ServiceError('InvalidParameterValue', 'The request is too large.');
  const closed = new AbortController();
  response.once('close', () => closed.abort());
  const answer = await forward(endpoint, request, body, closed.signal);
  const rewritten = ADDRESSES.has(operation) ? rewrite(answer.body, account) : answer.body;
  const { 'content-length': _length, 'transfer-encoding': _encoding, ...headers } = answer.headers;
  response.writeHead(answer.status, { ...headers, 'content-length': rewritten.length }).end(rewritten);
}

/** The operations whose answers hold addresses; message bodies are never looked at. */
const ADDRESSES = new Set(['CreateQueue', 'GetQueueUrl', 'ListQueues', 'GetQueueAttributes']);

type Answer = { QueueUrl?: string; QueueUrls?: string[]; Attributes?: Record<string, string> };

function rewrite(body: Buffer, account: Account): Buffer {
  const answer = JSON.parse(body.toString()) as Answer;
  const url = (engineUrl: string) =>
    `${account.gatewayUrl}/${account.accountId}/${engineUrl.split('/').at(-1)}`;
  if (answer.QueueUrl !== undefined) answer.QueueUrl = url(answer.QueueUrl);
  if (answer.QueueUrls !== undefined) answer.QueueUrls = answer.QueueUrls.map(url);
  for (const name of ['QueueArn', 'RedrivePolicy']) {
    const value = answer.Attributes?.[name];
    if (answer.Attributes && value !== undefined)
      answer.Attributes[name] = value.replaceAll(`:${ENGINE_ACCOUNT}:`, `:${account.accountId}:`);
  }
  return Buffer.from(JSON.stringify(answer));
}
