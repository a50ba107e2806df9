import { DynamoDBClient, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { MemoryTable } from '../../support/memory-table.ts';

/**
 * What goes wrong with one request of an operation: the process dies before it or right after it, the engine refuses
 * the transaction, the engine throttles, or the answer is lost on its way and the client sends the request again.
 */
export type Fault = {
  readonly at: number;
  readonly what: 'crash_before' | 'crash_after' | 'conflict' | 'throttle' | 'lost_answer';
};

export class Crash extends Error {}

/** Lets the requests of operations that run at once through one at a time, in an order that a test decides. */
export class Gate {
  readonly #waiting = new Map<number, (() => void)[]>();
  readonly #active = new Set<number>();
  readonly #order: number[];
  #inFlight = false;

  constructor(order: readonly number[]) {
    this.#order = [...order];
  }

  begin(writer: number): void {
    this.#active.add(writer);
  }

  end(writer: number): void {
    this.#active.delete(writer);
    this.#soon();
  }

  done(): void {
    this.#inFlight = false;
    this.#soon();
  }

  /** Requests that start together, and the next one of a writer that was answered, are all waiting by then. */
  #soon(): void {
    setImmediate(() => setImmediate(() => this.#letOneGo()));
  }

  /** Resolves when it is this request's turn; call `done` when it is answered. */
  async turn(writer: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.set(writer, [...(this.#waiting.get(writer) ?? []), resolve]);
    this.#soon();
    await promise;
  }

  #letOneGo(): void {
    const ready = [...this.#active].filter((writer) => (this.#waiting.get(writer)?.length ?? 0) > 0);
    if (this.#inFlight || ready.length === 0 || ready.length < this.#active.size) return;
    const pick = ready[(this.#order.shift() ?? 0) % ready.length] ?? 0;
    this.#inFlight = true;
    const requests = this.#waiting.get(pick) ?? [];
    const index = requests.length > 1 ? (this.#order.shift() ?? 0) % requests.length : 0;
    requests.splice(index, 1)[0]?.();
  }
}

/** One process that talks to the table: its client, with a switch for what goes wrong next. */
export class Writer {
  readonly client: DynamoDBDocumentClient;
  readonly #number: number;
  #fault: Fault | undefined;
  #requests = 0;
  #gate: Gate | undefined;

  constructor(number: number, connect: Connect) {
    this.#number = number;
    this.client = connect((command, send) => this.#around(command, send));
  }

  /** Runs one operation of this process under a fault and a gate. */
  async run<T>(operation: () => Promise<T>, fault?: Fault, gate?: Gate): Promise<T> {
    this.#fault = fault;
    this.#requests = 0;
    this.#gate = gate;
    gate?.begin(this.#number);
    try {
      return await operation();
    } finally {
      gate?.end(this.#number);
      this.#fault = undefined;
      this.#gate = undefined;
    }
  }

  async #around(command: string, send: () => Promise<unknown>): Promise<unknown> {
    const gate = this.#gate;
    await gate?.turn(this.#number);
    try {
      this.#requests += 1;
      if (this.#takes('crash_before')) throw new Crash('before');
      const isTransaction = command.startsWith('TransactWrite');
      if (isTransaction && this.#takes('conflict')) throw refused('TransactionConflict');
      if (isTransaction && this.#takes('throttle')) throw refused('ThrottlingError');
      // A transaction that is sent again carries the same client token: the engine answers as it did the first time.
      if (!isTransaction && this.#takes('lost_answer')) await send();
      const crashes = this.#takes('crash_after');
      const answer = await send();
      if (crashes) throw new Crash('after');
      return answer;
    } finally {
      gate?.done();
    }
  }

  #takes(what: Fault['what']): boolean {
    if (this.#fault?.what !== what || this.#fault.at !== this.#requests) return false;
    this.#fault = undefined;
    return true;
  }
}

type Around = (command: string, send: () => Promise<unknown>) => Promise<unknown>;
/** A client whose every request goes through `around`. */
export type Connect = (around: Around) => DynamoDBDocumentClient;

export const toMemory =
  (table: MemoryTable): Connect =>
  (around) =>
    table.client((command, send) => around(command, async () => send()));

export const toEngine =
  (endpoint: string): Connect =>
  (around) => {
    const client = DynamoDBDocumentClient.from(
      new DynamoDBClient({
        endpoint,
        region: 'us-east-1',
        credentials: { accessKeyId: 'x', secretAccessKey: 'x' },
      }),
      { marshallOptions: { removeUndefinedValues: true } },
    );
    const send = client.send.bind(client) as (command: object) => Promise<unknown>;
    return Object.assign(client, {
      send: (command: object) => around(command.constructor.name, () => send(command)),
    });
  };

const refused = (Code: string): TransactionCanceledException =>
  new TransactionCanceledException({
    message: 'injected',
    $metadata: {},
    CancellationReasons: [{ Code: 'None' }, { Code }],
  });
