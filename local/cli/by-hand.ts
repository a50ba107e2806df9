import * as z from 'zod';
import { type Api, ApiError } from './api-client.ts';
import { untilSettled } from './settle.ts';

const summarizeReply = z.union([
  z.looseObject({ summary_id: z.string() }),
  z.looseObject({ id: z.string(), status: z.string() }),
]);

const jobReply = z.looseObject({
  status: z.enum(['queued', 'running', 'done', 'failed']),
  error: z.object({ code: z.string(), message: z.string() }).optional(),
});

const PATIENCE = { quietMs: 600_000, stuckMs: 600_000, pollMs: 500 };

/** "Summarize & Continue": at once, or by the queue where that takes too long for one request. Throws `ApiError`. */
export async function summarizeByHand(api: Api, channelId: string): Promise<void> {
  const reply = await api('POST', `/channels/${channelId}/summarize`, summarizeReply);
  if (!('status' in reply)) return;
  const inTime = await untilSettled(async () => {
    const job = await api('GET', `/channels/${channelId}/compactions/${reply.id}`, jobReply);
    if (job.status === 'failed')
      throw new ApiError(200, job.error?.code ?? 'failed', job.error?.message ?? 'The summary failed.');
    return job.status === 'done' ? 'done' : 'quiet';
  }, PATIENCE);
  if (!inTime)
    throw new ApiError(200, 'timeout', `It is not done after ${PATIENCE.quietMs / 60_000} minutes.`);
}
