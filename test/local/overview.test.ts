import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { start } from './support.ts';

test('a secret is told under the name by which clients find it', async () => {
  const aws = await start(
    {
      Key: { Type: 'AWS::SecretsManager::Secret', Properties: { Description: 'a key' } },
      Named: { Type: 'AWS::SecretsManager::Secret', Properties: { Name: 'team/key' } },
    },
    {},
    { stackName: 'stack', secrets: { Key: 'first', 'team/key': 'second' } },
  );
  const client = new SecretsManagerClient({
    endpoint: aws.gatewayUrl,
    region: aws.region,
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  });
  assert.deepEqual(
    aws.resources.map(({ name }) => name),
    ['stack-Key', 'team/key'],
  );
  const values = aws.resources.map(({ name }) => client.send(new GetSecretValueCommand({ SecretId: name })));
  assert.deepEqual(
    (await Promise.all(values)).map(({ SecretString }) => SecretString),
    ['first', 'second'],
  );
});
