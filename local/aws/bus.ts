import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { compilePattern, type EventPattern } from './event-pattern.ts';
import { ServiceError } from './service.ts';
import { type Target, type Targets, targetOf } from './targets.ts';
import { noEffect, parseProperties } from './template/properties.ts';
import type { Resource } from './template/resolve.ts';
import type { Account, Log } from './types.ts';

const busProperties = z.strictObject({
  Name: z.string(),
  Description: noEffect,
  KmsKeyIdentifier: noEffect,
  LogConfig: noEffect,
  Policy: noEffect,
  Tags: noEffect,
});

const ruleProperties = z.strictObject({
  Name: z.string().optional(),
  EventBusName: z.string().default('default'),
  EventPattern: z.record(z.string(), z.unknown()),
  State: z.enum(['ENABLED', 'DISABLED']).default('ENABLED'),
  Targets: z
    .array(
      z.strictObject({
        Id: z.string(),
        Arn: z.string(),
        // Both concern a target that cannot be reached; a function or queue of this process always can.
        RetryPolicy: noEffect,
        DeadLetterConfig: noEffect,
        RoleArn: noEffect,
      }),
    )
    .default([]),
  Description: noEffect,
  RoleArn: noEffect,
  Tags: noEffect,
});

const putEvents = z.object({
  Entries: z
    .array(
      z.object({
        Source: z.string().optional(),
        DetailType: z.string().optional(),
        Detail: z.string().optional(),
        EventBusName: z.string().optional(),
        Resources: z.array(z.string()).default([]),
        Time: z.number().optional(),
      }),
    )
    .min(1)
    .max(10),
});

type Entry = z.infer<typeof putEvents>['Entries'][number];
type Rule = { readonly bus: string; readonly matches: EventPattern; readonly targets: readonly Target[] };

/** The size of all entries of one call together. */
const REQUEST_LIMIT = 256 * 1024;

/** EventBridge: custom buses and the default one, rules with patterns, functions and queues as targets. */
export class EventBus {
  readonly #account: Account;
  readonly #log: Log;
  readonly #buses: ReadonlySet<string>;
  readonly #rules: readonly Rule[];

  constructor(resources: readonly Resource[], targets: Targets, account: Account, log: Log) {
    this.#account = account;
    this.#log = log;
    const buses = resources.filter(({ type }) => type === 'AWS::Events::EventBus');
    this.#buses = new Set(['default', ...buses.map((bus) => parseProperties(bus, busProperties).Name)]);
    this.#rules = resources
      .filter(({ type }) => type === 'AWS::Events::Rule')
      .flatMap((resource) => this.#rule(resource, targets));
  }

  /** `PutEvents`: every valid entry is matched against the rules of its bus and handed to their targets. */
  async putEvents(input: unknown): Promise<object> {
    const parsed = putEvents.safeParse(input);
    if (!parsed.success) throw new ServiceError('ValidationException', z.prettifyError(parsed.error));
    if (Buffer.byteLength(JSON.stringify(input)) > REQUEST_LIMIT)
      throw new ServiceError(
        'ValidationException',
        'Total size of the entries in the request is over the limit.',
      );
    const results = await Promise.all(parsed.data.Entries.map((entry) => this.#put(entry)));
    return { FailedEntryCount: results.filter((result) => 'ErrorCode' in result).length, Entries: results };
  }

  #rule(resource: Resource, targets: Targets): Rule[] {
    const properties = parseProperties(resource, ruleProperties);
    const where = `${resource.logicalId} (${resource.type})`;
    const rule = {
      bus: busName(properties.EventBusName),
      matches: compilePattern(where, properties.EventPattern),
      targets: properties.Targets.map(({ Arn }) => targetOf(where, Arn, targets)),
    };
    return properties.State === 'ENABLED' ? [rule] : [];
  }

  async #put(entry: Entry): Promise<object> {
    const bus = busName(entry.EventBusName ?? 'default');
    const missing = (['Source', 'DetailType', 'Detail'] as const).find((field) => !entry[field]);
    if (missing)
      return {
        ErrorCode: 'InvalidArgument',
        ErrorMessage: `Parameter ${missing} is not valid. Reason: ${missing} is a required argument.`,
      };
    if (!this.#buses.has(bus))
      throw new ServiceError('ResourceNotFoundException', `Event bus ${bus} does not exist.`);
    const detail = parseDetail(entry.Detail ?? '');
    if (detail === undefined) return { ErrorCode: 'MalformedDetail', ErrorMessage: 'Detail is malformed.' };
    const id = randomUUID();
    await this.#deliver(bus, this.#event(id, entry, detail));
    return { EventId: id };
  }

  #event(id: string, entry: Entry, detail: object): Record<string, unknown> {
    const time = entry.Time === undefined ? new Date() : new Date(entry.Time * 1000);
    return {
      version: '0',
      id,
      'detail-type': entry.DetailType,
      source: entry.Source,
      account: this.#account.accountId,
      time: time.toISOString().replace(/\.\d{3}Z$/, 'Z'),
      region: this.#account.region,
      resources: entry.Resources,
      detail,
    };
  }

  async #deliver(bus: string, event: Record<string, unknown>): Promise<void> {
    const matching = this.#rules.filter((rule) => rule.bus === bus && rule.matches(event));
    const targets = matching.flatMap((rule) => rule.targets);
    this.#log({
      level: 'debug',
      source: 'bus',
      resource: bus,
      message: `${event['detail-type']} from ${event.source} goes to ${targets.length} target(s)`,
    });
    const payload = JSON.stringify(event);
    await Promise.all(targets.map((target) => target(payload)));
  }
}

/** A bus may be named by its ARN. */
function busName(nameOrArn: string): string {
  return nameOrArn.startsWith('arn:') ? nameOrArn.slice(nameOrArn.indexOf('/') + 1) : nameOrArn;
}

function parseDetail(text: string): object | undefined {
  try {
    const detail: unknown = JSON.parse(text);
    return typeof detail === 'object' && detail !== null && !Array.isArray(detail) ? detail : undefined;
  } catch {
    return undefined;
  }
}
