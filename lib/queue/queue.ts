import { SendMessageBatchCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { CompactionMessage, CompactionQueue } from '../ports.ts';

/** What SQS takes in one batch. */
const BATCH = 10;

/** Sends to the compaction queue, ten at a time; what a batch could not take is returned, not thrown. */
export function createCompactionQueue(client: SQSClient, queueUrl: string): CompactionQueue {
  async function sendBatch(messages: readonly CompactionMessage[]): Promise<readonly CompactionMessage[]> {
    const entries = messages.map((message, index) => ({
      Id: `${index}`,
      MessageBody: JSON.stringify(message),
    }));
    try {
      const { Failed = [] } = await client.send(
        new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries: entries }),
      );
      const failed = new Set(Failed.map(({ Id }) => Id));
      return messages.filter((_, index) => failed.has(`${index}`));
    } catch {
      return messages;
    }
  }

  return {
    async send(messages) {
      const batches: CompactionMessage[][] = [];
      for (let start = 0; start < messages.length; start += BATCH)
        batches.push(messages.slice(start, start + BATCH));
      return (await Promise.all(batches.map(sendBatch))).flat();
    },
  };
}
