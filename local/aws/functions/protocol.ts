/** What the runtime and its child processes say to each other. Payloads are JSON texts, as on the Lambda runtime API. */
export type InvokeMessage = {
  readonly requestId: string;
  readonly payload: string;
  /** Milliseconds since 1970 at which the process is ended. */
  readonly deadline: number;
  readonly functionArn: string;
};

export type ErrorBody = {
  readonly errorType: string;
  readonly errorMessage: string;
  readonly trace?: readonly string[];
};

export type ChildMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'init_failed'; readonly error: ErrorBody }
  | { readonly kind: 'result'; readonly requestId: string; readonly payload: string }
  | { readonly kind: 'error'; readonly requestId: string; readonly error: ErrorBody };
