import * as z from 'zod';
import { InvalidInputError } from '../errors.ts';
import type { CompactionMessage } from '../ports.ts';

const compactionMessage = z.object({
  channel_id: z.string().min(1),
  user_id: z.string().min(1),
  trigger: z.enum(['manual', 'auto']),
  job_id: z.string().min(1).optional(),
  correlation_id: z.string().min(1),
});

/** The body of a queue record. Throws `InvalidInputError` (`invalid_message`) that names the fields. */
export function parseCompactionMessage(body: string): CompactionMessage {
  const parsed = compactionMessage.safeParse(jsonOrUndefined(body));
  if (!parsed.success) {
    const fields = parsed.error.issues.map((issue) => issue.path.join('.') || 'body').join(', ');
    throw new InvalidInputError(
      'invalid_message',
      `The queue message is not a compaction request: ${fields}.`,
    );
  }
  const { job_id, ...message } = parsed.data;
  return job_id === undefined ? message : { ...message, job_id };
}

function jsonOrUndefined(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
