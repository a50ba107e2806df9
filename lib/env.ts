import * as z from 'zod';

/** The only module that reads `process.env`. Names are those that the stack sets on each function. */
const environment = z.object({
  TABLE_NAME: z.string().min(1),
  PRESSURE_INDEX: z.string().min(1),
  QUEUE_URL: z.string().min(1).optional(),
  EVENT_BUS_NAME: z.string().min(1).optional(),
  MODEL_PROVIDER: z.enum(['auto', 'extractive', 'anthropic']).default('auto'),
  MODEL_ID: z.string().optional(),
  MODEL_BASE_URL: z.string().optional(),
  MODEL_SECRET_ARN: z.string().optional(),
  ANTHROPIC_API_KEY: z.string().optional(),
  ADMIN_GROUP: z.string().default('admin'),
  CORS_ORIGINS: z.string().default(''),
});

export type Environment = z.infer<typeof environment>;

/** Parsed once per cold start; an unset variable arrives as an empty string in some runtimes and counts as absent. */
export function readEnvironment(): Environment {
  const set = Object.fromEntries(Object.entries(process.env).filter(([, value]) => value !== ''));
  return environment.parse(set);
}

/** A variable that this function needs; the error names what is missing in its configuration. */
export function required<K extends keyof Environment>(env: Environment, key: K): NonNullable<Environment[K]> {
  const value = env[key];
  if (value === undefined || value === null)
    throw new Error(`The environment variable ${key} is not set on this function.`);
  return value as NonNullable<Environment[K]>;
}
