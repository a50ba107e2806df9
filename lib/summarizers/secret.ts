import { GetSecretValueCommand, type SecretsManagerClient } from '@aws-sdk/client-secrets-manager';

/** A new secret is made with a generated value; a key of the provider starts with this. */
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
    const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: secretArn }));
    const value = SecretString?.trim();
    return value?.startsWith(KEY_PREFIX) ? value : undefined;
  };
  return () => {
    key ??= read().catch((error: unknown) => {
      key = undefined;
      throw error;
    });
    return key;
  };
}
