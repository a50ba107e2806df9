import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch';
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { createConsume } from '../../lib/compaction/consume.ts';
import { parseCompactionMessage } from '../../lib/queue/message.ts';
import { createBase } from '../clients.ts';
import { createEngine } from '../compaction.ts';

// Cold start only
const base = createBase();
const consume = createConsume({ ...base, jobs: base.store, compact: await createEngine(base) });
const processor = new BatchProcessor(EventType.SQS);
/** Left of the function's time for the apply and the answer once the model is aborted. */
const MARGIN_MS = 5_000;

/** Called by the queue; a failed record goes back alone. */
export const handler = (event: SQSEvent, context: Context): Promise<SQSBatchResponse> =>
  processPartialResponse(event, (record: SQSRecord) => onRecord(record, context), processor, {
    context,
    throwOnFullBatchFailure: false,
  });

/** Every record is one compaction. */
async function onRecord(record: SQSRecord, context: Context): Promise<void> {
  await consume(parseCompactionMessage(record.body), {
    receiveCount: Number(record.attributes.ApproximateReceiveCount),
    deadline: base.clock() + context.getRemainingTimeInMillis() - MARGIN_MS,
  });
}
