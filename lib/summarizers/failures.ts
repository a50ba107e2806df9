import { SummarizerError } from '../errors.ts';

type Failure = { readonly code: string; readonly retryable: boolean; readonly message: string };

/** Every way in which a model call fails, in one table: what it is called and whether trying again can help. */
const BY_STATUS: readonly (readonly [from: number, to: number, failure: Failure])[] = [
  [
    401,
    403,
    {
      code: 'model_auth',
      retryable: false,
      message: 'The model provider refused the key. Check the secret of the model key.',
    },
  ],
  [
    404,
    404,
    {
      code: 'model_not_found',
      retryable: false,
      message: 'The model provider does not know the configured model.',
    },
  ],
  [408, 408, { code: 'timeout', retryable: true, message: 'The model provider timed out.' }],
  [
    409,
    409,
    { code: 'overloaded', retryable: true, message: 'The model provider could not take the call now.' },
  ],
  [
    413,
    413,
    { code: 'model_rejected', retryable: false, message: 'The model provider found the request too large.' },
  ],
  [
    429,
    429,
    { code: 'rate_limited', retryable: true, message: 'The model provider limits the rate of calls.' },
  ],
  [
    400,
    499,
    { code: 'model_rejected', retryable: false, message: 'The model provider rejected the request.' },
  ],
  [
    500,
    599,
    { code: 'overloaded', retryable: true, message: 'The model provider is overloaded or failing.' },
  ],
];

const NETWORK: Failure = {
  code: 'network',
  retryable: true,
  message: 'The model provider could not be reached.',
};
const TIMEOUT: Failure = { code: 'timeout', retryable: true, message: 'The model did not answer in time.' };
export const MALFORMED: Failure = {
  code: 'malformed_reply',
  retryable: true,
  message: 'The model provider sent a reply that is not one of the Messages API.',
};

export type CallFacts = {
  readonly status?: number | undefined;
  readonly timedOut: boolean;
  readonly retryAfterSeconds?: number | undefined;
};

export const failed = (
  { code, retryable, message }: Failure,
  cause?: unknown,
  details = {},
): SummarizerError => new SummarizerError(code, message, { retryable, cause, details });

/** What went wrong with a call, told without its key and its content. */
export function failureOf(
  { status, timedOut, retryAfterSeconds }: CallFacts,
  cause: unknown,
): SummarizerError {
  if (timedOut) return failed(TIMEOUT, cause);
  if (status === undefined) return failed(NETWORK, cause);
  const failure = BY_STATUS.find(([from, to]) => status >= from && status <= to)?.[2] ?? MALFORMED;
  return failed(failure, cause, retryAfterSeconds === undefined ? {} : { retryAfterSeconds });
}
