import { DEFAULT_MODEL_ID } from '../settings/models.ts';
import { createAnthropicSummarizer } from './anthropic.ts';
import { createExtractiveSummarizer } from './extractive/index.ts';
import { createUtilityRole } from './roles.ts';
import type { Summarizer, UtilityRole } from './summarizer.ts';

export type UtilityConfig = {
  /** `auto`: a model when there is a key or an own base URL, else extractive. */
  readonly provider: 'auto' | 'extractive' | 'anthropic';
  readonly modelId?: string;
  readonly baseURL?: string;
  readonly apiKey: () => Promise<string | undefined>;
};

async function summarizersOf(config: UtilityConfig): Promise<[Summarizer, ...Summarizer[]]> {
  const extractive = createExtractiveSummarizer();
  if (config.provider === 'extractive') return [extractive];
  const hasModel =
    config.provider === 'anthropic' || config.baseURL !== undefined || (await config.apiKey()) !== undefined;
  if (!hasModel) return [extractive];
  const model = createAnthropicSummarizer({
    apiKey: config.apiKey,
    model: config.modelId ?? DEFAULT_MODEL_ID,
    ...(config.baseURL === undefined ? {} : { baseURL: config.baseURL }),
  });
  return [model, extractive];
}

/** The utility role as this function is configured. */
export const createUtility = async (config: UtilityConfig): Promise<UtilityRole> =>
  createUtilityRole(await summarizersOf(config));
