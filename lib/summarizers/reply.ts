import * as z from 'zod';
import { failed, MALFORMED } from './failures.ts';
import type { SummaryAnswer } from './summarizer.ts';

const count = z.number().nonnegative().nullish();
const reply = z.object({
  content: z.array(z.looseObject({ type: z.string(), text: z.string().optional() })),
  stop_reason: z.string().nullish(),
  usage: z.looseObject({
    input_tokens: z.number().nonnegative(),
    output_tokens: z.number().nonnegative(),
    cache_creation_input_tokens: count,
    cache_read_input_tokens: count,
  }),
});

/** Only these say that the model was done; every other reason, a new one too, leaves the text unfinished. */
const COMPLETE: readonly unknown[] = ['end_turn', 'stop_sequence'];

function stopOf(reason: unknown): SummaryAnswer['stop'] {
  if (COMPLETE.includes(reason)) return 'complete';
  return reason === 'refusal' ? 'refusal' : 'cut_off';
}

/** Open models behind a compatible server think aloud in the text itself. */
const withoutThoughts = (text: string): string => text.replace(/^\s*<think>[\s\S]*?<\/think>/, '').trim();

/** The answer in a reply of the Messages API. Throws `SummarizerError` (`malformed_reply`) for any other shape. */
export function answerOf(raw: unknown, model: string): SummaryAnswer {
  const parsed = reply.safeParse(raw);
  if (!parsed.success) throw failed(MALFORMED);
  const { content, stop_reason, usage } = parsed.data;
  const text = content.flatMap((block) => (block.type === 'text' ? [block.text ?? ''] : [])).join('');
  return {
    text: withoutThoughts(text),
    model,
    inputTokens:
      usage.input_tokens + (usage.cache_creation_input_tokens ?? 0) + (usage.cache_read_input_tokens ?? 0),
    outputTokens: usage.output_tokens,
    stop: stopOf(stop_reason),
  };
}
