import { UnsupportedTemplateError } from './errors.ts';
import type { AsyncInvoker, RetryPolicy } from './functions/async.ts';
import type { LambdaFunction } from './functions/function.ts';
import type { Queue } from './sqs.ts';

/** Takes an event as JSON text; what becomes of it later is not the sender's business. */
export type Target = (payload: string) => Promise<void>;

export type Targets = {
  readonly functions: readonly LambdaFunction[];
  readonly queues: readonly Queue[];
  readonly invoker: AsyncInvoker;
  /** By function name, where a template says how its asynchronous invocations are retried. */
  readonly retries: ReadonlyMap<string, Partial<RetryPolicy>>;
  sendToQueue(queueArn: string, body: string): Promise<void>;
};

/** The function or queue behind an ARN, for rules and schedules. Throws `UnsupportedTemplateError` for anything else. */
export function targetOf(where: string, arn: string, targets: Targets): Target {
  const target = targets.functions.find(({ config }) => config.arn === arn);
  if (target) {
    const retries = targets.retries.get(target.config.name);
    return async (payload) => targets.invoker.accept(target, payload, retries);
  }
  if (targets.queues.some((queue) => queue.arn === arn))
    return (payload) => targets.sendToQueue(arn, payload);
  throw new UnsupportedTemplateError(
    where,
    `its target ${arn} is neither a function nor a queue of this stack.`,
  );
}
