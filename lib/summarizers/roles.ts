import { AppError, SummarizerError } from '../errors.ts';
import { summarizeInParts } from './multipart.ts';
import type {
  Attempt,
  Judgement,
  Summarizer,
  SummaryAnswer,
  UtilityRequest,
  UtilityRole,
} from './summarizer.ts';

const refused = (reason: string): SummarizerError =>
  new SummarizerError(
    'summary_refused',
    `No model gave a usable summary; the last answer was refused: ${reason.replaceAll('_', ' ')}.`,
  );

type Tried = { readonly answer: SummaryAnswer; readonly judgement: Judgement };

/**
 * The utility role (A1, A5): the first summarizer whose answer is accepted. Errors and refused answers go to the next
 * one. Every call is reported, whatever became of it.
 */
export function createUtilityRole(summarizers: readonly [Summarizer, ...Summarizer[]]): UtilityRole {
  /** One summarizer; its calls are noted in `attempts`. */
  async function attempt(
    summarizer: Summarizer,
    request: UtilityRequest,
    attempts: Attempt[],
  ): Promise<Tried> {
    const { accept, ...rest } = request;
    const calls: SummaryAnswer[] = [];
    try {
      const answer = await summarizeInParts(summarizer, rest, (part) => calls.push(part));
      const judgement = accept(answer);
      const outcome = judgement.ok ? 'ok' : judgement.reason;
      attempts.push(
        ...calls.map((call, index) => attemptOf(call, index === calls.length - 1 ? outcome : 'ok')),
      );
      return { answer, judgement };
    } catch (error) {
      const code = error instanceof AppError ? error.code : 'summarizer_failed';
      attempts.push(...calls.map((call) => attemptOf(call, 'ok')));
      attempts.push({ model: summarizer.model, inputTokens: 0, outputTokens: 0, outcome: code });
      throw error;
    }
  }

  return async (request) => {
    const attempts: Attempt[] = [];
    let last: AppError | undefined;
    let retryable = false;
    for (const [index, summarizer] of summarizers.entries()) {
      try {
        const { answer, judgement } = await attempt(summarizer, request, attempts);
        if (judgement.ok) {
          return { answer, usedFallback: index > 0, promptVersion: summarizer.promptVersion, attempts };
        }
        last = refused(judgement.reason);
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        last = error;
        retryable ||= error.retryable;
      }
    }
    throw new SummarizerError(last?.code ?? 'summarizer_failed', last?.message ?? 'There is no summarizer.', {
      retryable,
      cause: last,
      details: { ...last?.details, attempts },
    });
  };
}

const attemptOf = ({ model, inputTokens, outputTokens }: SummaryAnswer, outcome: string): Attempt => ({
  model,
  inputTokens,
  outputTokens,
  outcome,
});
