import { SummarizerError } from '../../lib/errors.ts';
import type {
  Judgement,
  Summarizer,
  SummaryAnswer,
  SummaryRequest,
} from '../../lib/summarizers/summarizer.ts';

export type Reply = string | Partial<SummaryAnswer> | Error;

/** A summarizer whose answers are scripted by call; `calls` is what it was asked, in order. */
export function scripted(
  model: string,
  reply: (request: SummaryRequest, call: number) => Reply | Promise<Reply>,
  window = Number.POSITIVE_INFINITY,
) {
  const calls: SummaryRequest[] = [];
  const summarizer: Summarizer = {
    model,
    promptVersion: `${model}-1`,
    window,
    async summarize(request) {
      calls.push(request);
      const answer = await reply(request, calls.length);
      if (answer instanceof Error) throw answer;
      const given = typeof answer === 'string' ? { text: answer } : answer;
      return { text: '', model, inputTokens: 10, outputTokens: 1, stop: 'complete', ...given };
    },
  };
  return { summarizer, calls };
}

export const overloaded = (details: Record<string, unknown> = {}): SummarizerError =>
  new SummarizerError('overloaded', 'x', { retryable: true, details });
export const wrongKey = (): SummarizerError => new SummarizerError('model_auth', 'Check the key.');

/** Accepts what says something and is complete. */
export const acceptComplete = ({ text, stop }: SummaryAnswer): Judgement => {
  if (stop !== 'complete') return { ok: false, reason: stop };
  return text.trim() === '' ? { ok: false, reason: 'blank' } : { ok: true };
};
