import { EmbeddedAwsError } from './errors.ts';
import type { LambdaFunction } from './functions/function.ts';
import type { Issuer } from './issuer.ts';
import { type AwsCaller, callAws } from './support/aws-json.ts';
import type { Cleanup } from './support/cleanup.ts';
import { pause, settledWithin } from './support/wait.ts';
import type {
  Account,
  EmbeddedAws,
  InvocationResult,
  Log,
  RunningFunction,
  RunningResource,
  TokenClaims,
} from './types.ts';
import type { Wiring } from './wiring.ts';

const DRAIN_MS = 25_000;
const IDLE_POLL_MS = 25;

/** A started stack: takes work until it is drained, and ends once. */
export class RunningStack {
  readonly #wiring: Wiring;
  readonly #caller: AwsCaller;
  readonly #cleanup: Cleanup;
  readonly #log: Log;
  #drained: Promise<void> | undefined;
  #stopped: Promise<void> | undefined;

  constructor(wiring: Wiring, caller: AwsCaller, cleanup: Cleanup, log: Log) {
    this.#wiring = wiring;
    this.#caller = caller;
    this.#cleanup = cleanup;
    this.#log = log;
  }

  /** Schedules tick and queues are polled from here on. */
  start(): void {
    this.#wiring.scheduler.start();
    for (const mapping of this.#wiring.mappings) mapping.start();
  }

  facade(
    account: Account,
    facts: {
      outputs: Readonly<Record<string, string>>;
      resources: readonly RunningResource[];
      issuer: Issuer | undefined;
    },
  ): EmbeddedAws {
    const { apiUrl, gatewayUrl, region } = account;
    return {
      apiUrl,
      gatewayUrl,
      region,
      resources: facts.resources,
      outputs: facts.outputs,
      credentials: {
        AWS_ENDPOINT_URL: gatewayUrl,
        AWS_REGION: region,
        AWS_ACCESS_KEY_ID: 'local',
        AWS_SECRET_ACCESS_KEY: 'local',
      },
      functions: Object.fromEntries(this.#wiring.functions.map((each) => [each.config.label, running(each)])),
      mintToken: (claims) => mint(facts.issuer, claims),
      invoke: (name, event) => this.#invoke(name, event),
      idle: () => this.#idle(),
      drain: (options) => this.#drain(options?.timeoutMs),
      stop: (options) => this.#stop(options?.timeoutMs),
    };
  }

  async #invoke(name: string, event: unknown): Promise<InvocationResult> {
    const target = this.#wiring.functions.find(({ config }) =>
      [config.logicalId, config.name, config.label].includes(name),
    );
    if (!target) throw new EmbeddedAwsError('function_not_found', `The stack has no function ${name}.`);
    const outcome = await target.invoke(JSON.stringify(event ?? null));
    if (outcome.ok) return { ok: true, payload: JSON.parse(outcome.payload) };
    const { errorType, errorMessage } = outcome.error;
    return { ok: false, errorType, errorMessage };
  }

  /** Two looks in a row have to find nothing: between a message's deletion and the next event is a moment. */
  async #idle(): Promise<void> {
    for (let quiet = 0; quiet < 2; ) {
      quiet = !this.#isBusy() && (await this.#queuesAreEmpty()) && !this.#isBusy() ? quiet + 1 : 0;
      if (quiet < 2) await pause(IDLE_POLL_MS);
    }
  }

  #isBusy(): boolean {
    const { functions, mappings, invoker } = this.#wiring;
    return (
      invoker.pending > 0 ||
      functions.some((each) => each.inFlight > 0) ||
      mappings.some((each) => each.inFlight > 0)
    );
  }

  async #queuesAreEmpty(): Promise<boolean> {
    const counts = await Promise.all(
      this.#wiring.mappings.map(async ({ queue }) => {
        const { Attributes } = await callAws(this.#caller, 'sqs', 'GetQueueAttributes', {
          QueueUrl: queue.url,
          AttributeNames: [
            'ApproximateNumberOfMessages',
            'ApproximateNumberOfMessagesNotVisible',
            'ApproximateNumberOfMessagesDelayed',
          ],
        });
        return Object.values(Attributes as Record<string, string>).reduce(
          (sum, count) => sum + Number(count),
          0,
        );
      }),
    );
    return counts.every((count) => count === 0);
  }

  #drain(timeoutMs = DRAIN_MS): Promise<void> {
    this.#drained ??= this.#finishWork(timeoutMs);
    return this.#drained;
  }

  async #finishWork(timeoutMs: number): Promise<void> {
    const { scheduler, front, mappings, invoker, functions } = this.#wiring;
    scheduler.stop();
    front?.drain();
    const work = Promise.all([
      ...mappings.map((mapping) => mapping.drain()),
      invoker.drain(),
      quiet(functions),
    ]);
    if (await settledWithin(work, timeoutMs)) return;
    const busy = functions.filter(({ inFlight }) => inFlight > 0).map(({ config }) => config.label);
    this.#log({
      level: 'warn',
      source: 'aws',
      message: `Still running after ${timeoutMs / 1000} s: ${busy.join(', ') || 'deliveries'}; their work is done again at the next start`,
    });
  }

  #stop(timeoutMs?: number): Promise<void> {
    this.#stopped ??= this.#drain(timeoutMs).then(() => this.#cleanup.run());
    return this.#stopped;
  }
}

async function quiet(functions: readonly LambdaFunction[]): Promise<void> {
  while (functions.some(({ inFlight }) => inFlight > 0)) await pause(10);
}

function running(target: LambdaFunction): RunningFunction {
  const { logicalId, name } = target.config;
  return { logicalId, name, pids: () => target.pids, inFlight: () => target.inFlight };
}

async function mint(issuer: Issuer | undefined, claims: TokenClaims): Promise<string> {
  if (issuer) return issuer.mint(claims);
  throw new EmbeddedAwsError(
    'issuer_elsewhere',
    'The stack trusts an issuer of its own choice, so tokens have to come from there and not from here.',
  );
}
