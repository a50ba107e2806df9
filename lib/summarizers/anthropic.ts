import type Anthropic from '@anthropic-ai/sdk';
import { buildPrompt, PROMPT_VERSION } from '../compaction/prompt.ts';
import { SummarizerError } from '../errors.ts';
import { SUMMARY_TIMEOUT_MS } from '../settings/defaults.ts';
import { UTILITY_ESTIMATE_MARGIN, UTILITY_OUTPUT_RATIO, utilityWindow } from '../settings/models.ts';
import { failed, failureOf, KEY_UNAVAILABLE } from './failures.ts';
import { answerOf } from './reply.ts';
import { retryAfterSeconds, withoutLongWaits } from './retry-after.ts';
import type { Summarizer, SummaryRequest } from './summarizer.ts';

/** The provider's key, absent when there is none; `fresh` asks for it anew after the provider refused the last one. */
export type ModelKey = (options?: { readonly fresh: boolean }) => Promise<string | undefined>;

export type AnthropicOptions = {
  readonly apiKey: ModelKey;
  readonly model: string;
  /** Of anything that speaks the Messages API: Ollama, vLLM, LiteLLM. */
  readonly baseURL?: string;
  /** Context window of the model, in tokens; by default what its id tells. */
  readonly window?: number;
  /** For a call with its retry, in milliseconds. */
  readonly timeoutMs?: number;
  /** Not sent unless given: newer models refuse it. */
  readonly temperature?: number;
};

const DEFAULT_BASE_URL = 'https://api.anthropic.com';
/** Room for a model that thinks before it writes; the judge, not the limit, keeps a summary short. */
const THINKING_RESERVE = 4_096;
/** The text around the transcript, in tokens. */
const PROMPT_TOKENS = 800;

type Connection = { readonly sdk: typeof Anthropic; readonly anthropic: Anthropic };

/** The SDK adds `/v1` itself; many guides of compatible servers give an address that has it. */
const baseOf = (url: string): string => url.replace(/\/+$/, '').replace(/\/v1$/, '');

async function connect(
  { apiKey, baseURL, timeoutMs }: AnthropicOptions,
  fresh: boolean,
): Promise<Connection> {
  const [{ default: sdk }, key] = await Promise.all([import('@anthropic-ai/sdk'), apiKey({ fresh })]);
  const anthropic = new sdk({
    // A local server needs no key, but the client wants one.
    apiKey: key ?? 'none',
    // Given always, or the SDK would take it from an environment that is not ours to read.
    baseURL: baseOf(baseURL ?? DEFAULT_BASE_URL),
    maxRetries: 1,
    timeout: timeoutMs ?? SUMMARY_TIMEOUT_MS,
    fetch: withoutLongWaits(fetch),
    logLevel: 'off',
    openTelemetry: false,
  });
  return { sdk, anthropic };
}

/** The SDK's errors carry request and response; only their kind may go into a cause that is logged. */
const nameOf = (error: unknown): string => (error instanceof Error ? error.name : typeof error);

function asFailure(error: unknown, sdk: typeof Anthropic, signal: AbortSignal): SummarizerError {
  if (error instanceof SummarizerError) return error;
  const api = error instanceof sdk.APIError ? error : undefined;
  const facts = {
    timedOut: signal.aborted || error instanceof sdk.APIConnectionTimeoutError,
    unreadable: error instanceof SyntaxError,
    status: api?.status,
    retryAfterSeconds: retryAfterSeconds(api?.headers),
  };
  return failureOf(facts, nameOf(error));
}

/**
 * A summarizer over the Messages API. The SDK is loaded with the first call, so that functions that call no model pay
 * nothing for it. One retry in the SDK: fallbacks and the queue are there for the rest. Throws `SummarizerError` for
 * every failure of the table in `failures.ts`.
 */
export function createAnthropicSummarizer(options: AnthropicOptions): Summarizer {
  const { model, temperature } = options;
  const window = options.window ?? utilityWindow(model);
  const outputRoom = Math.floor(window * UTILITY_OUTPUT_RATIO);
  let connection: Promise<Connection> | undefined;
  let keyRefused = false;

  const connected = (): Promise<Connection> => {
    connection ??= connect(options, keyRefused).catch((error: unknown) => {
      connection = undefined;
      throw failed(KEY_UNAVAILABLE, nameOf(error));
    });
    return connection;
  };

  function bodyOf(request: SummaryRequest): Anthropic.MessageCreateParamsNonStreaming {
    const { system, user } = buildPrompt(request);
    return {
      model,
      max_tokens: Math.max(1, Math.min(request.maxTokens + THINKING_RESERVE, outputRoom)),
      system,
      messages: [{ role: 'user', content: user }],
      ...(temperature === undefined ? {} : { temperature }),
    };
  }

  async function summarize(request: SummaryRequest) {
    const { sdk, anthropic } = await connected();
    // The SDK times each try by itself; this ends them all, a body that never ends included.
    const timeout = AbortSignal.timeout(options.timeoutMs ?? SUMMARY_TIMEOUT_MS);
    const signal = request.signal === undefined ? timeout : AbortSignal.any([request.signal, timeout]);
    try {
      const answer = answerOf(await anthropic.messages.create(bodyOf(request), { signal }), model);
      keyRefused = false;
      return answer;
    } catch (error) {
      const failure = asFailure(error, sdk, signal);
      if (failure.code === 'model_auth') {
        connection = undefined;
        keyRefused = true;
      }
      throw failure;
    }
  }

  return {
    model,
    promptVersion: PROMPT_VERSION,
    window: Math.max(1, Math.floor((window - outputRoom - PROMPT_TOKENS) * (1 - UTILITY_ESTIMATE_MARGIN))),
    summarize,
  };
}
