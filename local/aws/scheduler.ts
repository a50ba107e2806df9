import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { UnsupportedTemplateError } from './errors.ts';
import { type Target, type Targets, targetOf } from './targets.ts';
import { noEffect, parseProperties, wholeNumber } from './template/properties.ts';
import type { Resource } from './template/resolve.ts';
import type { Account, Log } from './types.ts';

const scheduleProperties = z.strictObject({
  Name: z.string().optional(),
  GroupName: z.string().optional(),
  ScheduleExpression: z.string(),
  State: z.enum(['ENABLED', 'DISABLED']).default('ENABLED'),
  FlexibleTimeWindow: z.strictObject({ Mode: z.enum(['OFF', 'FLEXIBLE']), MaximumWindowInMinutes: noEffect }),
  Target: z.strictObject({
    Arn: z.string(),
    Input: z.string().optional(),
    RetryPolicy: z
      .strictObject({
        MaximumEventAgeInSeconds: wholeNumber.min(60).max(86_400).optional(),
        MaximumRetryAttempts: wholeNumber.max(185).optional(),
      })
      .optional(),
    // For a target that cannot be reached, which does not happen inside one process
    DeadLetterConfig: noEffect,
    RoleArn: noEffect,
  }),
  Description: noEffect,
  ScheduleExpressionTimezone: noEffect,
  KmsKeyArn: noEffect,
});

type Schedule = {
  readonly logicalId: string;
  readonly arn: string;
  readonly everyMs: number;
  readonly input: string | undefined;
  readonly target: Target;
};

const MINUTES: Readonly<Record<string, number>> = { minute: 1, hour: 60, day: 1440 };

/** EventBridge Scheduler: schedules at a rate. The first tick comes one period after the start. */
export class Scheduler {
  readonly #schedules: readonly Schedule[];
  readonly #account: Account;
  readonly #log: Log;
  readonly #timers: NodeJS.Timeout[] = [];

  constructor(
    resources: readonly Resource[],
    targets: Targets,
    options: { account: Account; minuteMs: number; log: Log },
  ) {
    this.#account = options.account;
    this.#log = options.log;
    this.#schedules = resources.flatMap((resource) => {
      const properties = parseProperties(resource, scheduleProperties);
      const where = `${resource.logicalId} (${resource.type})`;
      const schedule = {
        logicalId: resource.logicalId,
        arn: resource.attributes.Arn ?? '',
        everyMs: minutesOf(where, properties.ScheduleExpression) * options.minuteMs,
        input: properties.Target.Input,
        // The schedule's retries are about reaching the target; a function's own failures follow Lambda's rules.
        target: targetOf(where, properties.Target.Arn, targets),
      };
      return properties.State === 'ENABLED' ? [schedule] : [];
    });
  }

  /** Milliseconds between two ticks, by logical id; disabled schedules are missing. */
  get periods(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#schedules.map(({ logicalId, everyMs }) => [logicalId, everyMs]));
  }

  start(): void {
    for (const schedule of this.#schedules)
      this.#timers.push(setInterval(() => void this.#tick(schedule), schedule.everyMs));
  }

  stop(): void {
    for (const timer of this.#timers.splice(0)) clearInterval(timer);
  }

  async #tick(schedule: Schedule): Promise<void> {
    const time = new Date().toISOString().replace(/\.\d{3}Z$/, 'Z');
    const id = randomUUID();
    try {
      await schedule.target(
        schedule.input === undefined ? this.#event(schedule, id, time) : fill(schedule, id, time),
      );
    } catch (error) {
      this.#log({
        level: 'error',
        source: 'scheduler',
        resource: schedule.logicalId,
        message: String(error),
      });
    }
  }

  /** What a schedule without an input sends. */
  #event(schedule: Schedule, id: string, time: string): string {
    return JSON.stringify({
      version: '0',
      id,
      'detail-type': 'Scheduled Event',
      source: 'aws.scheduler',
      account: this.#account.accountId,
      time,
      region: this.#account.region,
      resources: [schedule.arn],
      detail: '{}',
    });
  }
}

/** The attributes that an input may name. */
function fill({ arn, input = '' }: Schedule, id: string, time: string): string {
  return input
    .replaceAll('<aws.scheduler.schedule-arn>', arn)
    .replaceAll('<aws.scheduler.scheduled-time>', time)
    .replaceAll('<aws.scheduler.execution-id>', id)
    .replaceAll('<aws.scheduler.attempt-number>', '1');
}

function minutesOf(where: string, expression: string): number {
  const [, count = '', unit = ''] = /^rate\(([1-9]\d*) (minute|hour|day)s?\)$/.exec(expression) ?? [];
  const minutes = MINUTES[unit];
  if (minutes === undefined)
    throw new UnsupportedTemplateError(
      where,
      `the embedded AWS runs schedules such as rate(1 minute), not ${expression}.`,
    );
  return Number(count) * minutes;
}
