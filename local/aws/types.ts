/** One line of what happens inside: a function's output, or what an engine has to say. */
export type LogEntry = {
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  /** `function` for what a function printed, else the engine. */
  readonly source:
    | 'function'
    | 'runtime'
    | 'gateway'
    | 'http'
    | 'bus'
    | 'scheduler'
    | 'queue'
    | 'table'
    | 'secrets'
    | 'issuer'
    | 'aws';
  /** The function, queue or other resource that the entry is about. */
  readonly resource?: string;
  readonly message: string;
  /** The fields of a structured (JSON) log line. */
  readonly data?: Readonly<Record<string, unknown>>;
};

export type Log = (entry: Omit<LogEntry, 'time'>) => void;

/** What every engine needs to know of the pretended account. */
export type Account = {
  readonly region: string;
  readonly accountId: string;
  readonly stackName: string;
  readonly gatewayUrl: string;
  readonly apiUrl: string;
};

export type EmbeddedAwsOptions = {
  /** The CloudFormation template, as synthesized. */
  readonly template: object;
  /** The cloud assembly: where `*.assets.json` says that the functions' code is. */
  readonly assemblyDir: string;
  /** Keeps tables, queues and signing keys here; without it everything lives in memory. */
  readonly dataDir?: string;
  /** 0 (default) picks a free port. */
  readonly apiPort?: number;
  /** 0 (default) picks a free port; a fixed one keeps tokens valid across starts. */
  readonly gatewayPort?: number;
  readonly region?: string;
  readonly accountId?: string;
  /** Used in generated names; keep it the same for one `dataDir`. */
  readonly stackName?: string;
  /**
   * Time lapse: how long a minute of schedules, retries and redelivery lasts, in milliseconds (60 000). Under 60 000 the
   * messages of a killed or timed-out invocation are visible again at once.
   */
  readonly schedule?: { readonly minuteMs?: number };
  /** Added to the environment of every function, e.g. a model key; the template's own variables win. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Values of secrets by logical id or name. */
  readonly secrets?: Readonly<Record<string, string>>;
  readonly onLog?: (entry: LogEntry) => void;
  /** A DynamoDB of one's own (DynamoDB Local, LocalStack …) instead of the bundled engine. */
  readonly endpoints?: { readonly dynamodb?: string };
};

/** One line for a person: what runs where. */
export type RunningResource = {
  readonly logicalId: string;
  readonly type: string;
  readonly name: string;
  readonly runs: string;
};

export type TokenClaims = {
  readonly sub: string;
  /** Becomes `cognito:groups`. */
  readonly groups?: readonly string[];
  readonly scope?: string;
  /** Lifetime in seconds (3600); may be negative for an expired token. */
  readonly expiresIn?: number;
  readonly [claim: string]: unknown;
};

export type InvocationResult =
  | { readonly ok: true; readonly payload: unknown }
  | { readonly ok: false; readonly errorType: string; readonly errorMessage: string };

export type RunningFunction = {
  readonly logicalId: string;
  readonly name: string;
  /** Process ids of its execution environments, busy ones first. */
  pids(): readonly number[];
  inFlight(): number;
};

export type EmbeddedAws = {
  readonly apiUrl: string;
  readonly gatewayUrl: string;
  readonly region: string;
  readonly resources: readonly RunningResource[];
  /** The stack's outputs, resolved. */
  readonly outputs: Readonly<Record<string, string>>;
  /** Environment that lets any AWS SDK or CLI speak to this instance. */
  readonly credentials: Readonly<Record<string, string>>;
  /** By label: the function's `POWERTOOLS_SERVICE_NAME`, else its logical id. */
  readonly functions: Readonly<Record<string, RunningFunction>>;
  /** A token of the stack's own user pool. Rejects when the template names another issuer. */
  mintToken(claims: TokenClaims): Promise<string>;
  /** Invokes a function by logical id, name or label and waits for its answer. */
  invoke(functionName: string, event: unknown): Promise<InvocationResult>;
  /** Resolves when no invocation runs or waits and the queues with consumers are empty. */
  idle(): Promise<void>;
  /** Takes no new work and waits for what is in flight, at most `timeoutMs` (25 000). */
  drain(options?: { readonly timeoutMs?: number }): Promise<void>;
  /** Drains, then ends every process and server. May be called twice. */
  stop(options?: { readonly timeoutMs?: number }): Promise<void>;
};
