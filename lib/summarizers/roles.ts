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

type Tried = { readonly answer: SummaryAnswer; readonly judgement: Judgement };

const REFUSED = 'summary_refused';

const refused = (reason: string): SummarizerError =>
  new SummarizerError(
    REFUSED,
    `No model gave a usable summary; the last answer was refused: ${reason.replaceAll('_', ' ')}.`,
    { details: { reason } },
  );

/** An error that no summarizer declares is one of the code; the fallbacks are asked all the same. */
const asAppError = (error: unknown): AppError =>
  error instanceof AppError
    ? error
    : new SummarizerError('summarizer_failed', 'A summarizer failed for a reason of its own.', {
        cause: error,
      });

const attemptOf = ({ model, inputTokens, outputTokens }: SummaryAnswer, outcome: string): Attempt => ({
  model,
  inputTokens,
  outputTokens,
  outcome,
});

/** The failure that says most to a person: one that may pass, else one of a call, else the last refusal. */
function told(failures: readonly AppError[]): AppError {
  return (
    failures.find(({ retryable }) => retryable) ??
    failures.find(({ code }) => code !== REFUSED) ??
    failures.at(-1) ??
    new SummarizerError('summarizer_failed', 'There is no summarizer.')
  );
}

function failedRole(failures: readonly AppError[], attempts: readonly Attempt[]): SummarizerError {
  const cause = told(failures);
  return new SummarizerError(cause.code, cause.message, {
    retryable: cause.retryable,
    cause,
    details: { ...cause.details, attempts },
  });
}

/** One summarizer, in as many calls as it needs; each is noted in `attempts`, whatever became of it. */
async function ask(summarizer: Summarizer, request: UtilityRequest, attempts: Attempt[]): Promise<Tried> {
  const { accept, batchThreshold, ...rest } = request;
  const calls: SummaryAnswer[] = [];
  const options = batchThreshold === undefined ? {} : { batchThreshold };
  try {
    const answer = await summarizeInParts(summarizer, rest, (part) => calls.push(part), options);
    const judgement = accept(answer);
    // Answers on parts were used; only the one that was judged bears the outcome.
    const judged = calls.includes(answer) ? answer : calls.at(-1);
    const outcome = judgement.ok ? 'ok' : judgement.reason;
    attempts.push(...calls.map((call) => attemptOf(call, call === judged ? outcome : 'ok')));
    return { answer, judgement };
  } catch (error) {
    const failure = asAppError(error);
    attempts.push(...calls.map((call) => attemptOf(call, 'ok')));
    attempts.push({ model: summarizer.model, inputTokens: 0, outputTokens: 0, outcome: failure.code });
    throw failure;
  }
}

/**
 * The utility role (A1, A5): the first summarizer whose answer is accepted. Errors and refused answers go to the next
 * one. Every call is reported, whatever became of it. Throws `SummarizerError`; see `UtilityRole`.
 */
export function createUtilityRole(summarizers: readonly [Summarizer, ...Summarizer[]]): UtilityRole {
  return async (request) => {
    const attempts: Attempt[] = [];
    const failures: AppError[] = [];
    for (const [index, summarizer] of summarizers.entries()) {
      try {
        const { answer, judgement } = await ask(summarizer, request, attempts);
        if (judgement.ok)
          return { answer, usedFallback: index > 0, promptVersion: summarizer.promptVersion, attempts };
        failures.push(refused(judgement.reason));
      } catch (error) {
        failures.push(asAppError(error));
      }
    }
    throw failedRole(failures, attempts);
  };
}
