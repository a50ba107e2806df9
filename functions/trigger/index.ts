import { SQSClient } from '@aws-sdk/client-sqs';
import type { EventBridgeEvent } from 'aws-lambda';
import { required } from '../../lib/env.ts';
import { createTrigger } from '../../lib/events/trigger.ts';
import { createCompactionQueue } from '../../lib/queue/queue.ts';
import { createBase } from '../clients.ts';

// Cold start only
const base = createBase();
const onEvent = createTrigger({
  ...base,
  queue: createCompactionQueue(new SQSClient({}), required(base.env, 'QUEUE_URL')),
});

/** Called by the bus, once for each event that its rule matches. */
export const handler = (event: EventBridgeEvent<string, unknown>): Promise<void> => onEvent(event);
