import * as z from 'zod';
import { UnsupportedTemplateError } from '../errors.ts';
import { flag, noEffect, parseProperties, wholeNumber } from '../template/properties.ts';
import type { Resource } from '../template/resolve.ts';
import type { Account } from '../types.ts';
import { type Assets, findHandler } from './assets.ts';
import type { FunctionConfig } from './environment.ts';

const functionProperties = z.strictObject({
  FunctionName: z.string().optional(),
  Code: z.strictObject({ S3Bucket: z.string(), S3Key: z.string(), S3ObjectVersion: noEffect }),
  Handler: z.string().regex(/^[^.]+(\/[^.]+)*\.\w+$/),
  Runtime: z.string().regex(/^nodejs\d+\.x$/, 'only Node.js functions run here'),
  Timeout: wholeNumber.min(1).max(900).default(3),
  MemorySize: wholeNumber.min(128).max(10_240).default(128),
  ReservedConcurrentExecutions: wholeNumber.optional(),
  Environment: z.strictObject({ Variables: z.record(z.string(), z.coerce.string()).default({}) }).optional(),
  PackageType: z.literal('Zip').optional(),
  DeadLetterConfig: z.strictObject({ TargetArn: z.string().optional() }).optional(),
  Publish: flag.optional(),
  Role: noEffect,
  Architectures: noEffect,
  Description: noEffect,
  LoggingConfig: z.looseObject({ LogGroup: z.string().optional() }).optional(),
  TracingConfig: noEffect,
  EphemeralStorage: noEffect,
  KmsKeyArn: noEffect,
  RecursiveLoop: noEffect,
  RuntimeManagementConfig: noEffect,
  Tags: noEffect,
});

/**
 * What the runtime needs of an `AWS::Lambda::Function`: exactly the template's environment, what Lambda itself sets, and
 * the endpoint and credentials that lead to the gateway. `extra` comes from the person who starts, and the template wins.
 */
export async function defineFunction(
  resource: Resource,
  assets: Assets,
  account: Account,
  extra: Readonly<Record<string, string>>,
): Promise<FunctionConfig> {
  const properties = parseProperties(resource, functionProperties);
  const where = `${resource.logicalId} (${resource.type})`;
  const folder = assets.get(properties.Code.S3Key);
  const { file, exportName } = await findHandler(where, folder, properties.Handler);
  const variables = properties.Environment?.Variables ?? {};
  const reserved = Object.keys(variables).find((key) =>
    /^AWS_(REGION|LAMBDA_|ACCESS_KEY|SECRET_|SESSION_)/.test(key),
  );
  if (reserved !== undefined)
    throw new UnsupportedTemplateError(
      where,
      `Lambda reserves the variable ${reserved} and would refuse it.`,
    );
  const name = resource.ref;
  const environment = {
    ...extra,
    ...lambdaVariables(name, folder ?? '', properties, account),
    ...clientVariables(account, resource.logicalId),
    ...variables,
  };
  const { ReservedConcurrentExecutions: concurrency, DeadLetterConfig: deadLetter } = properties;
  return {
    logicalId: resource.logicalId,
    name,
    label: variables.POWERTOOLS_SERVICE_NAME ?? resource.logicalId,
    arn: resource.attributes.Arn ?? '',
    file,
    exportName,
    environment,
    timeoutMs: properties.Timeout * 1000,
    memoryMb: properties.MemorySize,
    ...(concurrency === undefined ? {} : { reserved: concurrency }),
    ...(deadLetter?.TargetArn === undefined ? {} : { deadLetterArn: deadLetter.TargetArn }),
  };
}

function lambdaVariables(
  name: string,
  folder: string,
  properties: z.infer<typeof functionProperties>,
  account: Account,
): Record<string, string> {
  return {
    AWS_REGION: account.region,
    AWS_DEFAULT_REGION: account.region,
    AWS_EXECUTION_ENV: `AWS_Lambda_${properties.Runtime}`,
    AWS_LAMBDA_FUNCTION_NAME: name,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(properties.MemorySize),
    AWS_LAMBDA_LOG_GROUP_NAME: properties.LoggingConfig?.LogGroup ?? `/aws/lambda/${name}`,
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    LAMBDA_TASK_ROOT: folder,
    _HANDLER: properties.Handler,
    TZ: ':UTC',
    LANG: 'en_US.UTF-8',
  };
}

/** The access key is the function's logical id: the gateway sees who calls. */
function clientVariables(account: Account, logicalId: string): Record<string, string> {
  return {
    AWS_ENDPOINT_URL: account.gatewayUrl,
    AWS_ACCESS_KEY_ID: logicalId,
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_SESSION_TOKEN: 'local',
  };
}
