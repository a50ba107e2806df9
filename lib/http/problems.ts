import {
  AppError,
  ConflictError,
  InvalidInputError,
  NotFoundError,
  RateLimitError,
  StoreError,
  SummarizerError,
  TooLargeError,
} from '../errors.ts';
import { type FieldError, InvalidRequestError } from './invalid-request.ts';

export type Problem = {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  /** Stable; listed in docs/api.md. */
  readonly code: string;
  readonly errors?: readonly FieldError[];
};

const TITLES: Readonly<Record<number, string>> = {
  400: 'Malformed request',
  401: 'Not authenticated',
  403: 'Not allowed',
  404: 'Not found',
  405: 'Method not allowed',
  409: 'Conflict with the present state',
  413: 'Too large',
  422: 'The request breaks a rule',
  429: 'Too many requests',
  500: 'Unexpected failure',
  502: 'The model could not summarize',
  503: 'Not possible right now',
};

/** Codes whose status is not that of their class. */
const BY_CODE: Readonly<Record<string, number>> = {
  invalid_json: 400,
  unauthenticated: 401,
  admin_only: 403,
  service_only: 403,
  method_not_allowed: 405,
};

/** The one place where errors become HTTP. */
function statusOf(error: AppError): number {
  const byCode = BY_CODE[error.code];
  if (byCode !== undefined) return byCode;
  if (error instanceof NotFoundError) return 404;
  if (error instanceof ConflictError) return 409;
  if (error instanceof InvalidInputError) return 422;
  if (error instanceof TooLargeError) return 413;
  if (error instanceof RateLimitError) return 429;
  if (error instanceof StoreError) return error.retryable ? 503 : 500;
  if (error instanceof SummarizerError) return error.retryable ? 503 : 502;
  return 500;
}

const problem = (status: number, code: string, detail: string): Problem => ({
  type: 'about:blank',
  title: TITLES[status] ?? 'Error',
  status,
  detail,
  code,
});

/** Conflicts that end by themselves; another one is the caller's to solve, and waiting does not help. */
const PASSING_CONFLICTS: ReadonlySet<string> = new Set(['compaction_running', 'conversation_moved']);
const SOON_S = 5;
/** Limits are counted by the hour, so that coming back at once is of no use. */
const LIMITED_S = 60;

/** Whole seconds, at least one, after which the same request may succeed. */
function retryAfter(error: AppError, status: number): number | undefined {
  const { retryAfterSeconds } = error.details;
  if (typeof retryAfterSeconds === 'number' && Number.isFinite(retryAfterSeconds)) {
    return Math.max(1, Math.ceil(retryAfterSeconds));
  }
  if (status === 429) return LIMITED_S;
  return status === 503 || PASSING_CONFLICTS.has(error.code) ? SOON_S : undefined;
}

/** An RFC 9457 problem for any error. What was not thrown on purpose is told without its message. */
export function problemOf(error: unknown): { problem: Problem; retryAfterSeconds?: number } {
  if (!(error instanceof AppError)) {
    return { problem: problem(500, 'internal', 'Something unexpected went wrong; the log has the details.') };
  }
  const status = statusOf(error);
  const retryAfterSeconds = retryAfter(error, status);
  return {
    problem: {
      ...problem(status, error.code, error.message),
      ...(error instanceof InvalidRequestError ? { errors: error.errors } : {}),
    },
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  };
}

/**
 * What the log keeps of a failure: its kind and where it happened. Not its message, which may quote what a person
 * wrote (a parser's, a database's, a provider's).
 */
export function failureFields(error: unknown): Record<string, unknown> {
  const cause = error instanceof AppError ? error.cause : error;
  if (!(cause instanceof Error)) return { error: cause === undefined ? 'none' : typeof cause };
  const frames = cause.stack?.split('\n').filter((line) => /^\s+at /.test(line)) ?? [];
  return { error: cause.name, at: frames.slice(0, 8).map((line) => line.trim()) };
}
