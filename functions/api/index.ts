import { SQSClient } from '@aws-sdk/client-sqs';
import { handle } from 'hono/aws-lambda';
import { required } from '../../lib/env.ts';
import { createApp } from '../../lib/http/app.ts';
import { createCompactionQueue } from '../../lib/queue/queue.ts';
import { createBase } from '../clients.ts';
import { createEngine } from '../compaction.ts';

// Cold start only
const base = createBase();
const app = createApp({
  ...base,
  compact: await createEngine(base),
  queue: createCompactionQueue(new SQSClient({}), required(base.env, 'QUEUE_URL')),
  adminGroup: base.env.ADMIN_GROUP,
});

/** Called by the HTTP API; the gateway has verified the token, `lib/http/principal.ts` says what it allows. */
export const handler = handle(app);
