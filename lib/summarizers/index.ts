import { DEFAULT_MODEL_ID } from '../settings/models.ts';
import { createAnthropicSummarizer, type ModelKey } from './anthropic.ts';
import { createExtractiveSummarizer } from './extractive/index.ts';
import { createUtilityRole } from './roles.ts';
import type { Summarizer, UtilityRole } from './summarizer.ts';

export type UtilityConfig = {
  /** `auto`: a model when there is a key or an own base URL, else extractive. */
  readonly provider: 'auto' | 'extractive' | 'anthropic';
  readonly modelId?: string;
  readonly baseURL?: string;
  /** Context window of the model, in tokens; by default what its id tells. */
  readonly window?: number;
  readonly apiKey: ModelKey;
};

/**
 * The extractive summarizer after a model: it needs no network and well under a second, so it still answers when the
 * model has used up the time that the signal gives.
 */
function lastResort(): Summarizer {
  const extractive = createExtractiveSummarizer();
  return { ...extractive, summarize: ({ signal: _spent, ...request }) => extractive.summarize(request) };
}

function withModel({ modelId, baseURL, window, apiKey }: UtilityConfig): UtilityRole {
  const model = createAnthropicSummarizer({
    apiKey,
    model: modelId ?? DEFAULT_MODEL_ID,
    ...(baseURL === undefined ? {} : { baseURL }),
    ...(window === undefined ? {} : { window }),
  });
  return createUtilityRole([model, lastResort()]);
}

/** A key that cannot be read now may be there: the call of the model then fails, is recorded, and the fallback helps. */
const mayHaveKey = (apiKey: ModelKey): Promise<boolean> =>
  apiKey().then(
    (key) => key !== undefined,
    () => true,
  );

/**
 * The utility role as this function is configured. Nothing is read before the first summary is asked for; a key that
 * is put in later is found by the next one.
 */
export function createUtility(config: UtilityConfig): UtilityRole {
  const extractive = createUtilityRole([createExtractiveSummarizer()]);
  if (config.provider === 'extractive') return extractive;
  const model = withModel(config);
  if (config.provider === 'anthropic' || config.baseURL !== undefined) return model;
  return async (request) => ((await mayHaveKey(config.apiKey)) ? model(request) : extractive(request));
}
