import * as z from 'zod';

/** Names on the bus (C26). */
export const DETAIL_TYPES = {
  generation: 'response.generation',
  request: 'compaction.request',
  result: 'compaction.result',
} as const;

export const EVENT_SOURCE = 'compaction_service';

/** In: a turn of the application's model is over (C7). */
export const responseGeneration = z.looseObject({
  session_id: z.string().min(1),
  prompt_tokens: z.int().min(0).default(0),
  correlation_id: z.string().optional(),
});

/** In and out: somebody asks for a compaction (C9). `user_id` defaults to the owner of the channel. */
export const compactionRequest = z.looseObject({
  session_id: z.string().min(1),
  auto: z.boolean().default(false),
  user_id: z.string().min(1).optional(),
  correlation_id: z.string().optional(),
});

const result = { session_id: z.string(), correlation_id: z.string(), trigger: z.enum(['manual', 'auto']) };

/** Out: what became of a compaction (C18). */
export const compactionResult = z.union([
  z.object({
    ...result,
    tokens_before: z.int().min(0),
    tokens_after: z.int().min(0),
    summary: z.string(),
    summary_id: z.string(),
  }),
  z.object({ ...result, error: z.string(), code: z.string() }),
]);
