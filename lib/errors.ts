/**
 * Every error that this product throws on purpose. `code` is stable and documented; `retryable` says whether the
 * same call may succeed later; `message` is written for a person and holds no conversation content.
 */
export class AppError extends Error {
  readonly code: string;
  readonly retryable: boolean;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    code: string,
    message: string,
    options: { retryable?: boolean; cause?: unknown; details?: Record<string, unknown> } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.code = code;
    this.retryable = options.retryable ?? false;
    this.details = options.details ?? {};
  }
}

/** The thing asked for is not there, or is not the caller's to see. */
export class NotFoundError extends AppError {}
/** The request contradicts the present state; the same request may be right later. */
export class ConflictError extends AppError {}
/** The input breaks a rule; sending it again changes nothing. */
export class InvalidInputError extends AppError {}
/** The content is larger than a message may be. */
export class TooLargeError extends AppError {}
/** A rate limit is used up; `details.retryAfterSeconds` says when to come back. */
export class RateLimitError extends AppError {}
/** A summarizer failed or its answer was refused. */
export class SummarizerError extends AppError {}
/** The database could not do it now (throttle, conflict that did not settle). */
export class StoreError extends AppError {}
