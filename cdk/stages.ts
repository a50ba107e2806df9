import * as z from 'zod';

/** What can be chosen at deployment, by `-c name=value` or in `cdk.json`. Everything else is a setting at run time. */
export type StageConfig = Readonly<z.infer<typeof stageSchema>>;

/** A context value is wrong; the message is one sentence for a person. */
export class ContextError extends Error {
  override readonly name = 'ContextError';
}

const list = (value: unknown) =>
  typeof value === 'string'
    ? value
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== '')
    : value;

const optionalUrl = (name: string, pattern: RegExp, example: string) =>
  z
    .string()
    .regex(new RegExp(`^$|${pattern.source}`), `${name} must be empty or an address such as ${example}`);

const oneOf = <const T extends readonly string[]>(name: string, values: T) =>
  z.enum(values, `${name} must be one of ${values.join(', ')}`);

const flag = (name: string) =>
  z
    .preprocess(
      (value) => (typeof value === 'boolean' ? String(value) : value),
      oneOf(name, ['true', 'false']),
    )
    .transform((value) => value === 'true');

const CONCURRENCY = 'compactorConcurrency must be a whole number from 1 to 1000';
const AUDIENCE =
  'jwtAudience must be given together with jwtIssuer: the client ids, separated by commas, that the issuer puts into "aud"';

const stageSchema = z
  .strictObject({
    stage: oneOf('stage', ['dev', 'prod']).default('dev'),
    modelProvider: oneOf('modelProvider', ['auto', 'extractive', 'anthropic']).default('auto'),
    modelId: z
      .string()
      .regex(
        /^[\w.:@/-]{0,200}$/,
        'modelId must be a model name of at most 200 letters, digits and . : @ / - _',
      )
      .default(''),
    modelBaseUrl: optionalUrl(
      'modelBaseUrl',
      /^https?:\/\/[^\s/]+\S*$/,
      'https://models.example.com',
    ).default(''),
    modelSecretArn: z
      .string()
      .regex(
        /^$|^arn:[\w-]+:secretsmanager:[\w-]+:\d{12}:secret:[\w/+=.@-]+$/,
        'modelSecretArn must be empty or the complete ARN of a Secrets Manager secret',
      )
      .default(''),
    jwtIssuer: optionalUrl('jwtIssuer', /^https:\/\/[^\s/]+\S*$/, 'https://login.example.com/realm').default(
      '',
    ),
    jwtAudience: z.preprocess(
      list,
      z.array(z.string()).max(50, 'jwtAudience takes at most 50 client ids').default([]),
    ),
    adminGroup: z
      .string()
      .regex(
        /^[\w+=,.@-]{1,128}$/,
        'adminGroup must be a group name of 1 to 128 letters, digits and + = , . @ - _',
      )
      .default('admin'),
    corsOrigins: z.preprocess(
      list,
      z
        .array(
          z
            .string()
            .regex(
              /^https?:\/\/[^\s/*]+$/,
              'corsOrigins must be origins such as https://chat.example.com, separated by commas, without a path or *',
            ),
        )
        .default([]),
    ),
    compactorConcurrency: z.coerce
      .number(CONCURRENCY)
      .int(CONCURRENCY)
      .min(1, CONCURRENCY)
      .max(1000, CONCURRENCY)
      .default(2),
    reserveConcurrency: flag('reserveConcurrency').default(true),
    logLevel: oneOf('logLevel', ['DEBUG', 'INFO', 'WARN', 'ERROR']).default('INFO'),
  })
  .superRefine((config, context) => {
    if ((config.jwtIssuer === '') !== (config.jwtAudience.length === 0)) {
      context.addIssue({ code: 'custom', message: AUDIENCE });
    }
  });

/** Names of the context values, in the order of `docs/deploy.md`. */
export const CONTEXT_NAMES: readonly string[] = Object.keys(stageSchema.shape);

/**
 * Reads the product's values out of the CDK context; the CDK's own keys hold `:`, `/`, `@` or `-` and are let through.
 * Throws `ContextError` at the first wrong or unknown value.
 */
export function parseContext(context: Readonly<Record<string, unknown>>): StageConfig {
  const ours = Object.entries(context).filter(([key]) => /^\w+$/.test(key));
  const unknown = ours.find(([key]) => !CONTEXT_NAMES.includes(key));
  // A misspelt "stage=prod" must not deploy an unprotected stack.
  if (unknown) {
    throw new ContextError(
      `Unknown context value "${unknown[0]}": use one of ${CONTEXT_NAMES.join(', ')} (docs/deploy.md).`,
    );
  }
  const parsed = stageSchema.safeParse(Object.fromEntries(ours));
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const key = issue?.path[0];
  const given = key === undefined ? '' : `, not ${JSON.stringify(context[String(key)])}`;
  throw new ContextError(`Context value: ${issue?.message ?? 'invalid'}${given} (docs/deploy.md).`);
}
