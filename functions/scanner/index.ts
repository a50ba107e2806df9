import { SQSClient } from '@aws-sdk/client-sqs';
import { type ScanReport, scan } from '../../lib/compaction/scan.ts';
import { required } from '../../lib/env.ts';
import { createCompactionQueue } from '../../lib/queue/queue.ts';
import { createBase } from '../clients.ts';

// Cold start only
const base = createBase();
const queue = createCompactionQueue(new SQSClient({}), required(base.env, 'QUEUE_URL'));

/** Called by the schedule, every minute; the scan itself decides whether it is due. */
export const handler = (): Promise<ScanReport> => scan({ ...base, queue });
