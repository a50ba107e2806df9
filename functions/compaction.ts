import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { createCompact } from '../lib/compaction/compact.ts';
import type { Compact } from '../lib/compaction/outcome.ts';
import { required } from '../lib/env.ts';
import { createEventPublisher } from '../lib/events/publisher.ts';
import { createUtility } from '../lib/summarizers/index.ts';
import { secretKey } from '../lib/summarizers/secret.ts';
import type { Base } from './clients.ts';

/** The engine with its model and its bus; only the functions that call a model are built with it. */
export async function createEngine(base: Base): Promise<Compact> {
  const { env, store, clock, newId, logger } = base;
  const utility = await createUtility({
    provider: env.MODEL_PROVIDER,
    ...(env.MODEL_ID === undefined ? {} : { modelId: env.MODEL_ID }),
    ...(env.MODEL_BASE_URL === undefined ? {} : { baseURL: env.MODEL_BASE_URL }),
    apiKey: apiKey(base),
  });
  const events = createEventPublisher(new EventBridgeClient({}), required(env, 'EVENT_BUS_NAME'));
  return createCompact({
    store,
    utility,
    utilityModel: base.utilityModel,
    events,
    clock,
    newId,
    logger,
  });
}

/** A key in the environment wins (one machine, no account); deployed functions read the secret. */
function apiKey({ env }: Base): () => Promise<string | undefined> {
  const { ANTHROPIC_API_KEY: key, MODEL_SECRET_ARN: arn } = env;
  if (key !== undefined) return async () => key;
  return arn === undefined ? async () => undefined : secretKey(new SecretsManagerClient({}), arn);
}
