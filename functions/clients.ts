import { Logger as PowertoolsLogger } from '@aws-lambda-powertools/logger';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { type Environment, readEnvironment } from '../lib/env.ts';
import type { Clock, Logger, NewId } from '../lib/ports.ts';
import { DEFAULT_MODEL_ID } from '../lib/settings/models.ts';
import { createStore, type Store } from '../lib/store/index.ts';
import { newId } from '../lib/treepath/ids.ts';

/** What every function has: its configuration, the table, a clock, ids and a log. Made once per cold start. */
export type Base = {
  readonly env: Environment;
  readonly store: Store;
  /** Id of the summarizing model, for the budget chain (A14). */
  readonly utilityModel: string;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly logger: Logger;
};

export function createBase(): Base {
  const env = readEnvironment();
  const clock: Clock = () => Date.now();
  const ids: NewId = (after) => newId(clock(), after);
  const client = DynamoDBDocumentClient.from(new DynamoDBClient({}), {
    marshallOptions: { removeUndefinedValues: true },
  });
  const store = createStore({
    client,
    tableName: env.TABLE_NAME,
    indexName: env.PRESSURE_INDEX,
    clock,
    newId: ids,
  });
  return {
    env,
    store,
    utilityModel: env.MODEL_ID ?? DEFAULT_MODEL_ID,
    clock,
    newId: ids,
    logger: createLogger(),
  };
}

/** Powertools takes extra fields as an object and refuses none of ours. */
function createLogger(): Logger {
  const logger = new PowertoolsLogger();
  return {
    debug: (message, fields = {}) => logger.debug(message, fields),
    info: (message, fields = {}) => logger.info(message, fields),
    warn: (message, fields = {}) => logger.warn(message, fields),
    error: (message, fields = {}) => logger.error(message, fields),
  };
}
