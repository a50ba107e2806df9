import * as z from 'zod';
import { parseProperties, wholeNumber } from '../template/properties.ts';
import type { Resource } from '../template/resolve.ts';
import type { RetryPolicy } from './async.ts';

const configProperties = z.strictObject({
  FunctionName: z.string(),
  Qualifier: z.literal('$LATEST'),
  MaximumRetryAttempts: wholeNumber.max(2).optional(),
  MaximumEventAgeInSeconds: wholeNumber.min(60).max(21_600).optional(),
});

/** How asynchronous invocations of each function are retried, by the function's name. */
export function retryPolicies(resources: readonly Resource[]): ReadonlyMap<string, Partial<RetryPolicy>> {
  return new Map(
    resources.map((resource) => {
      const { FunctionName, MaximumRetryAttempts, MaximumEventAgeInSeconds } = parseProperties(
        resource,
        configProperties,
      );
      const policy = {
        ...(MaximumRetryAttempts === undefined ? {} : { attempts: MaximumRetryAttempts }),
        ...(MaximumEventAgeInSeconds === undefined ? {} : { maxAgeSeconds: MaximumEventAgeInSeconds }),
      };
      return [FunctionName, policy];
    }),
  );
}
