import type { CompactOutcome, CompactSkip } from '../compaction/outcome.ts';
import { type AppError, ConflictError, InvalidInputError } from '../errors.ts';

const SKIP_MESSAGES: Readonly<Partial<Record<CompactSkip, string>>> = {
  too_few_messages:
    'There is too little to summarize: it takes at least 4 messages since the last summary, and a turn that is answered.',
  until_not_in_context: 'The message named in `until` is not in the present context.',
};

/** A reason of the engine under the name that this API documents. */
export const skipCode = (reason: string): string =>
  reason === 'too_few_messages' ? 'not_enough_messages' : reason;

/** Outcomes that are not a result, as errors of this API. */
export function refusalOf(outcome: Exclude<CompactOutcome, { status: 'done' }>): AppError {
  switch (outcome.status) {
    case 'busy':
      return new ConflictError(
        'compaction_running',
        'A compaction of this channel is running; try again in a moment.',
      );
    case 'stale':
      return new ConflictError(
        'conversation_moved',
        'The conversation went to another branch meanwhile; nothing was changed.',
      );
    case 'skipped': {
      const code = skipCode(outcome.reason);
      const message =
        SKIP_MESSAGES[outcome.reason] ?? `Nothing was summarized: ${code.replaceAll('_', ' ')}.`;
      return new InvalidInputError(code, message);
    }
  }
}
