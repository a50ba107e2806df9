import { SummarizerError } from '../errors.ts';

export type Failure = { readonly code: string; readonly retryable: boolean; readonly message: string };

const later = (code: string, message: string): Failure => ({ code, retryable: true, message });
const never = (code: string, message: string): Failure => ({ code, retryable: false, message });

const AUTH = never(
  'model_auth',
  'The model provider refused the key. Check the secret of the model key, and that the key may use this model.',
);
const NOT_FOUND = never(
  'model_not_found',
  'The model provider does not know the configured model, or its base URL is wrong. Check both.',
);
const TIMEOUT = later('timeout', 'The model did not answer in time.');
const OVERLOADED = later('overloaded', 'The model provider is overloaded or failing.');
const NETWORK = later('network', 'The model provider could not be reached, or the connection broke.');

/** The reply is none of the Messages API: another product, a proxy's page, truncated JSON. */
export const MALFORMED = later(
  'malformed_reply',
  'The model provider sent a reply that is not one of the Messages API. Check the base URL if it goes on.',
);
export const KEY_UNAVAILABLE = later('model_key_unavailable', 'The key of the model could not be read.');

/**
 * Every way in which a model call fails, in one table: its code and whether trying again can help. The first range
 * that holds the status counts. Refused, cut-off and blank answers are no failures of the call; the judge has them.
 */
const BY_STATUS: readonly (readonly [from: number, to: number, failure: Failure])[] = [
  [401, 401, AUTH],
  [403, 403, AUTH],
  [404, 404, NOT_FOUND],
  [408, 408, TIMEOUT],
  [409, 409, OVERLOADED],
  [413, 413, never('model_rejected', 'The model provider found the request too large.')],
  [429, 429, later('rate_limited', 'The model provider limits the rate of calls.')],
  [400, 499, never('model_rejected', 'The model provider rejected the request.')],
  [504, 504, TIMEOUT],
  [500, 599, OVERLOADED],
];

/** What is known of a failed call: whether its time was up, else the status that came back, else nothing. */
export type CallFacts = {
  readonly timedOut: boolean;
  /** A reply came whose body is not JSON. */
  readonly unreadable: boolean;
  readonly status?: number | undefined;
  readonly retryAfterSeconds?: number | undefined;
};

export const failed = (
  { code, retryable, message }: Failure,
  cause?: unknown,
  details = {},
): SummarizerError => new SummarizerError(code, message, { retryable, cause, details });

function kindOf({ timedOut, unreadable, status }: CallFacts): Failure {
  if (timedOut) return TIMEOUT;
  if (unreadable) return MALFORMED;
  if (status === undefined) return NETWORK;
  return BY_STATUS.find(([from, to]) => status >= from && status <= to)?.[2] ?? MALFORMED;
}

/** What went wrong with a call, told without its key and its content. */
export function failureOf(facts: CallFacts, cause: unknown): SummarizerError {
  const { retryAfterSeconds } = facts;
  return failed(kindOf(facts), cause, retryAfterSeconds === undefined ? {} : { retryAfterSeconds });
}
