import type Anthropic from '@anthropic-ai/sdk';
import * as z from 'zod';
import { buildPrompt, PROMPT_VERSION } from '../compaction/prompt.ts';
import { SummarizerError } from '../errors.ts';
import { SUMMARY_TIMEOUT_MS } from '../settings/defaults.ts';
import { UTILITY_RESERVE_RATIO, UTILITY_WINDOW } from '../settings/models.ts';
import { failed, failureOf, MALFORMED } from './failures.ts';
import type { Summarizer, SummaryAnswer } from './summarizer.ts';

export type AnthropicOptions = {
  readonly apiKey: () => Promise<string | undefined>;
  readonly model: string;
  /** Of anything that speaks the Messages API: Ollama, vLLM, LiteLLM. */
  readonly baseURL?: string;
  /** Context window of the model, in tokens. */
  readonly window?: number;
  readonly timeoutMs?: number;
};

/** Room for a model that thinks before it writes; the judge, not the limit, keeps a summary short. */
const THINKING_RESERVE = 4_096;

const reply = z.object({
  content: z.array(z.looseObject({ type: z.string(), text: z.string().optional() })),
  stop_reason: z.string().nullable(),
  usage: z.looseObject({ input_tokens: z.number(), output_tokens: z.number() }),
});

function answerOf(raw: unknown, model: string): SummaryAnswer {
  const parsed = reply.safeParse(raw);
  if (!parsed.success) throw failed(MALFORMED);
  const { content, stop_reason, usage } = parsed.data;
  const text = content.flatMap((block) => (block.type === 'text' ? [block.text ?? ''] : [])).join('');
  return {
    text: text.trim(),
    model,
    inputTokens: usage.input_tokens,
    outputTokens: usage.output_tokens,
    stop: stop_reason === 'max_tokens' ? 'cut_off' : stop_reason === 'refusal' ? 'refusal' : 'complete',
  };
}

const retryAfter = (headers: unknown): number | undefined => {
  const value = headers instanceof Headers ? Number(headers.get('retry-after')) : Number.NaN;
  return Number.isFinite(value) && value > 0 ? value : undefined;
};

/**
 * A summarizer over the Messages API. The SDK is loaded with the first call, so that functions that call no model pay
 * nothing for it. One retry in the SDK: fallbacks and the queue are there for the rest.
 */
export function createAnthropicSummarizer(options: AnthropicOptions): Summarizer {
  let client: Promise<{ sdk: typeof Anthropic; anthropic: Anthropic }> | undefined;

  async function connect() {
    const [{ default: sdk }, key] = await Promise.all([import('@anthropic-ai/sdk'), options.apiKey()]);
    const anthropic = new sdk({
      // A local server needs no key, but the client wants one.
      apiKey: key ?? 'none',
      ...(options.baseURL === undefined ? {} : { baseURL: options.baseURL }),
      maxRetries: 1,
      timeout: options.timeoutMs ?? SUMMARY_TIMEOUT_MS,
      logLevel: 'off',
    });
    return { sdk, anthropic };
  }

  return {
    model: options.model,
    promptVersion: PROMPT_VERSION,
    window: Math.floor((options.window ?? UTILITY_WINDOW) * (1 - UTILITY_RESERVE_RATIO)),
    async summarize(request) {
      client ??= connect();
      const { sdk, anthropic } = await client;
      const { system, user } = buildPrompt(request);
      try {
        const message = await anthropic.messages.create(
          {
            model: options.model,
            max_tokens: request.maxTokens + THINKING_RESERVE,
            system,
            messages: [{ role: 'user', content: user }],
          },
          request.signal === undefined ? {} : { signal: request.signal },
        );
        return answerOf(message, options.model);
      } catch (error) {
        if (error instanceof SummarizerError) throw error;
        const timedOut =
          error instanceof sdk.APIConnectionTimeoutError || error instanceof sdk.APIUserAbortError;
        const status =
          error instanceof sdk.APIError ? error.status : error instanceof SyntaxError ? 0 : undefined;
        const headers = error instanceof sdk.APIError ? error.headers : undefined;
        throw failureOf({ status, timedOut, retryAfterSeconds: retryAfter(headers) }, nameOf(error));
      }
    },
  };
}

/** The SDK's errors carry request and response; only their kind may go into a cause that is logged. */
const nameOf = (error: unknown): string => (error instanceof Error ? error.name : typeof error);
