import { randomBytes, randomUUID } from 'node:crypto';
import * as z from 'zod';
import { ServiceError } from './service.ts';
import { noEffect, parseProperties, wholeNumber } from './template/properties.ts';
import type { Resource } from './template/resolve.ts';

const secretProperties = z.strictObject({
  Name: z.string().optional(),
  SecretString: z.string().optional(),
  GenerateSecretString: z
    .strictObject({
      PasswordLength: wholeNumber.default(32),
      GenerateStringKey: z.string().optional(),
      SecretStringTemplate: z.string().default('{}'),
      ExcludeCharacters: noEffect,
      ExcludePunctuation: noEffect,
      ExcludeNumbers: noEffect,
      ExcludeLowercase: noEffect,
      ExcludeUppercase: noEffect,
      IncludeSpace: noEffect,
      RequireEachIncludedType: noEffect,
    })
    .optional(),
  Description: noEffect,
  KmsKeyId: noEffect,
  ReplicaRegions: noEffect,
  Tags: noEffect,
});

const secretId = z.object({ SecretId: z.string() });
const newValue = secretId.extend({ SecretString: z.string() });

type Secret = { readonly arn: string; readonly name: string; value: string | undefined; version: string };

/** Secrets Manager: `GetSecretValue` and `PutSecretValue`. A secret without a value is one, as on AWS. */
export class Secrets {
  readonly #secrets: readonly Secret[];

  /** `given` has values by logical id or by name. */
  constructor(resources: readonly Resource[], given: Readonly<Record<string, string>> = {}) {
    this.#secrets = resources.map((resource) => {
      const properties = parseProperties(resource, secretProperties);
      const name = secretName(resource.ref);
      const value =
        given[resource.logicalId] ?? given[name] ?? properties.SecretString ?? generate(properties);
      return { arn: resource.ref, name, value, version: randomUUID() };
    });
  }

  /** Answers an operation. Throws `ServiceError` for what does not exist. */
  call(operation: string, input: unknown): object {
    if (operation === 'GetSecretValue') return this.#get(secretId.parse(input).SecretId);
    if (operation === 'PutSecretValue') {
      const { SecretId, SecretString } = newValue.parse(input);
      return this.#put(SecretId, SecretString);
    }
    throw new ServiceError(
      'UnknownOperationException',
      `The embedded AWS does not know the Secrets Manager operation ${operation}.`,
    );
  }

  #get(id: string): object {
    const { arn, name, value, version } = this.#find(id);
    if (value === undefined)
      throw new ServiceError(
        'ResourceNotFoundException',
        "Secrets Manager can't find the specified secret value for staging label: AWSCURRENT",
      );
    return { ARN: arn, Name: name, VersionId: version, SecretString: value, VersionStages: ['AWSCURRENT'] };
  }

  #put(id: string, value: string): object {
    const secret = this.#find(id);
    secret.value = value;
    secret.version = randomUUID();
    return { ARN: secret.arn, Name: secret.name, VersionId: secret.version, VersionStages: ['AWSCURRENT'] };
  }

  #find(id: string): Secret {
    const secret = this.#secrets.find(({ arn, name }) => id === arn || id === name);
    if (!secret)
      throw new ServiceError('ResourceNotFoundException', "Secrets Manager can't find the specified secret.");
    return secret;
  }
}

/** The name within `arn:aws:secretsmanager:region:account:secret:name-XXXXXX`. */
export function secretName(arn: string): string {
  return arn.split(':').slice(6).join(':').slice(0, -7);
}

function generate({ GenerateSecretString: how }: z.infer<typeof secretProperties>): string | undefined {
  if (!how) return undefined;
  const password = randomBytes(how.PasswordLength).toString('base64url').slice(0, how.PasswordLength);
  if (how.GenerateStringKey === undefined) return password;
  return JSON.stringify({ ...JSON.parse(how.SecretStringTemplate), [how.GenerateStringKey]: password });
}
