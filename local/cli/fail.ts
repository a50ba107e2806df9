import { AppError } from '../../lib/errors.ts';

/** What a person can mend: told in one sentence, without a stack. */
export class UsageError extends AppError {
  constructor(message: string) {
    super('usage', message);
  }
}

/** Errors that say what to do by themselves; anything else is a fault of ours and shows where it happened. */
function sentence(error: unknown): string {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** Runs a command line program: exit code 0, or 1 with one sentence on stderr. */
export async function runMain(main: () => Promise<void>): Promise<void> {
  try {
    await main();
  } catch (error) {
    process.stderr.write(`${sentence(error)}\n`);
    process.exitCode = 1;
  }
}
