import {
  GetSecretValueCommand,
  ResourceNotFoundException,
  type SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import type { ModelKey } from './anthropic.ts';

/** One word, as keys are: neither JSON nor a sentence that asks for a key. */
const KEY = /^[\w.+/=:~-]{8,}$/;
const PLACEHOLDER = /place.?holder|change.?me|replace.?me|your.?(?:api.?)?key|^x+$|^(?:none|todo|dummy)/i;

const keyIn = (secret: string | undefined): string | undefined => {
  const value = secret?.trim() ?? '';
  return KEY.test(value) && !PLACEHOLDER.test(value) ? value : undefined;
};

/**
 * Reads the model key once per environment, and anew when a fresh one is asked for. A secret that holds no key yet
 * counts as none and is looked at again by the next call, so that a service without a model still compacts and finds
 * its key without a deployment. Throws what the client throws when the secret cannot be read.
 */
export function secretKey(client: SecretsManagerClient, secretArn: string): ModelKey {
  let known: string | undefined;
  let reading: Promise<string | undefined> | undefined;

  async function read(): Promise<string | undefined> {
    try {
      const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: secretArn }));
      known = keyIn(SecretString);
      return known;
    } catch (error) {
      // A secret that was made without a value has none to get.
      if (error instanceof ResourceNotFoundException) return undefined;
      throw error;
    } finally {
      reading = undefined;
    }
  }

  return async (options) => {
    if (known !== undefined && options?.fresh !== true) return known;
    reading ??= read();
    return reading;
  };
}
