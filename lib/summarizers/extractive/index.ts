import { setImmediate as nextTick } from 'node:timers/promises';
import { estimateTokens } from '../../compaction/estimator/index.ts';
import { SummarizerError } from '../../errors.ts';
import type { Summarizer, SummaryAnswer, SummaryRequest } from '../summarizer.ts';
import { fill } from './fill.ts';
import { head } from './head.ts';
import { previousSources } from './previous.ts';
import { type Source, sourcesOf, withGoal, withUsefulDays } from './sources.ts';
import { buildCorpus } from './units.ts';
import { termWeights } from './weights.ts';
import { wordsOf } from './words.ts';

export const EXTRACTIVE_MODEL = 'extractive';
const PROMPT_VERSION = 'extractive-1';

export type ExtractiveOptions = {
  /** Tokens of a text; decides what fits in `maxTokens`. By default the estimator of channels. */
  readonly estimate?: (text: string) => number;
};

/** Lets a time-out fire between two phases, each of which holds the thread. */
async function checkpoint(signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return;
  await nextTick();
  if (!signal.aborted) return;
  throw new SummarizerError(
    'aborted',
    'The summary was stopped before it was done; it can be asked for again.',
    {
      retryable: true,
      cause: signal.reason,
    },
  );
}

function readSources({ messages, previousSummary, maxTokens }: SummaryRequest): readonly Source[] {
  const earlier = previousSources(previousSummary);
  const recent = sourcesOf(messages);
  return withUsefulDays([...earlier, ...(earlier.length === 0 ? withGoal(recent) : recent)], maxTokens);
}

/**
 * A summarizer without a model: the most telling fragments of the conversation, in its order, language and words, one
 * line for each run of a speaker. Deterministic, without I/O. The answer is within `maxTokens` and never blank when
 * the input has text. Throws `SummarizerError` (`aborted`, retryable) when `signal` is aborted.
 */
export function createExtractiveSummarizer(options: ExtractiveOptions = {}): Summarizer {
  const estimate = options.estimate ?? estimateTokens;

  async function summarize(request: SummaryRequest): Promise<SummaryAnswer> {
    const { signal, maxTokens } = request;
    await checkpoint(signal);
    const sources = readSources(request);
    const corpus = buildCorpus(sources);
    await checkpoint(signal);
    const asked = new Set(wordsOf(request.instructions ?? '').map(({ key }) => key));
    const weights = termWeights(corpus, asked);
    const filled = fill({ corpus, sources, weights, estimate, maxTokens });
    await checkpoint(signal);
    const first = sources[0]?.text ?? '';
    const text = (filled === '' && first !== '' ? head(first, maxTokens, estimate) : filled).toWellFormed();
    return {
      text,
      model: EXTRACTIVE_MODEL,
      inputTokens: sources.reduce((sum, source) => sum + estimate(source.text), 0),
      outputTokens: estimate(text),
      stop: 'complete',
    };
  }

  return {
    model: EXTRACTIVE_MODEL,
    promptVersion: PROMPT_VERSION,
    window: Number.POSITIVE_INFINITY,
    summarize,
  };
}
