import {
  GetSecretValueCommand,
  ResourceNotFoundException,
  type SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';

/** What a key of the provider starts with; a value that was generated for a new secret does not. */
const KEY_PREFIX = 'sk-';

/**
 * Reads the model key once per environment. A secret that holds no key yet counts as none, so that a service without a
 * model still compacts.
 */
export function secretKey(
  client: SecretsManagerClient,
  secretArn: string,
): () => Promise<string | undefined> {
  let key: Promise<string | undefined> | undefined;
  const read = async (): Promise<string | undefined> => {
    try {
      const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: secretArn }));
      const value = SecretString?.trim();
      return value?.startsWith(KEY_PREFIX) ? value : undefined;
    } catch (error) {
      // A secret that was made without a value has none to get.
      if (error instanceof ResourceNotFoundException) return undefined;
      throw error;
    }
  };
  return () => {
    key ??= read().catch((error: unknown) => {
      key = undefined;
      throw error;
    });
    return key;
  };
}
