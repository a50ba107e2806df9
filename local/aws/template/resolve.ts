import * as z from 'zod';
import { InvalidTemplateError, UnsupportedTemplateError } from '../errors.ts';
import type { Account } from '../types.ts';
import { evaluate, evaluateCondition, NO_VALUE, type Scope } from './intrinsics.ts';
import { type Identity, namerOf } from './names.ts';

/** A resource with every intrinsic function replaced. */
export type Resource = {
  readonly logicalId: string;
  readonly type: string;
  readonly properties: Readonly<Record<string, unknown>>;
  /** What `Ref` gives: a name, an id, a URL or an ARN, by type. */
  readonly ref: string;
  readonly attributes: Readonly<Record<string, string>>;
};

export type ResolvedTemplate = {
  readonly resources: readonly Resource[];
  readonly outputs: Readonly<Record<string, string>>;
};

const record = z.record(z.string(), z.unknown());

const templateSchema = z.strictObject({
  AWSTemplateFormatVersion: z.string().optional(),
  Description: z.string().optional(),
  Metadata: z.unknown().optional(),
  // Checks of the deployment's environment, such as the bootstrap version
  Rules: z.unknown().optional(),
  Parameters: z.record(z.string(), z.looseObject({ Default: z.unknown().optional() })).default({}),
  Mappings: z.record(z.string(), z.record(z.string(), record)).default({}),
  Conditions: record.default({}),
  Resources: z.record(
    z.string(),
    z.looseObject({
      Type: z.string(),
      Properties: record.default({}),
      Condition: z.string().optional(),
      DependsOn: z.union([z.string(), z.array(z.string())]).optional(),
    }),
  ),
  Outputs: z
    .record(z.string(), z.looseObject({ Value: z.unknown(), Condition: z.string().optional() }))
    .default({}),
});

type ParsedTemplate = z.infer<typeof templateSchema>;

/**
 * Evaluates the whole template for an account. Throws `UnsupportedTemplateError` for a type or intrinsic function that
 * is not known here and `InvalidTemplateError` for a reference to nothing; each names the logical id.
 */
export function resolveTemplate(template: object, account: Account): ResolvedTemplate {
  const parsed = templateSchema.safeParse(template);
  if (!parsed.success) throw malformed(parsed.error);
  return new Resolver(parsed.data, account).resolve();
}

function malformed(error: z.ZodError): InvalidTemplateError {
  const [issue] = error.issues;
  if (issue?.code === 'unrecognized_keys')
    return new UnsupportedTemplateError(
      'Template',
      `the embedded AWS does not know its section ${issue.keys[0]}.`,
    );
  return new InvalidTemplateError('Template', `${issue?.path.join('.') || 'it'}: ${issue?.message}.`);
}

class Resolver {
  readonly #template: ParsedTemplate;
  readonly #account: Account;
  readonly #identities = new Map<string, Identity>();
  /** Resources whose name is being evaluated: meeting one again is a circle. */
  readonly #naming = new Set<string>();

  constructor(template: ParsedTemplate, account: Account) {
    this.#template = template;
    this.#account = account;
  }

  resolve(): ResolvedTemplate {
    const present = Object.entries(this.#template.Resources).filter(([id]) => this.#isPresent(id));
    for (const [logicalId, { Type, DependsOn }] of present) this.#check(logicalId, Type, DependsOn ?? []);
    const resources = present.map(([logicalId, { Type, Properties }]) => ({
      logicalId,
      type: Type,
      properties: evaluate(Properties, this.#scope(`${logicalId} (${Type})`)) as Record<string, unknown>,
      ...this.#identity(logicalId),
    }));
    return { resources, outputs: this.#outputs() };
  }

  #check(logicalId: string, type: string, dependsOn: string | readonly string[]): void {
    if (!namerOf(type))
      throw new UnsupportedTemplateError(
        logicalId,
        `the embedded AWS does not run resources of type ${type}; local/aws has to learn it, or the stack has to do without.`,
      );
    const missing = [dependsOn].flat().find((id) => !this.#template.Resources[id]);
    if (missing !== undefined)
      throw new InvalidTemplateError(logicalId, `it depends on ${missing}, which is not in the template.`);
  }

  #outputs(): Record<string, string> {
    const outputs = Object.entries(this.#template.Outputs).filter(
      ([id, { Condition }]) => Condition === undefined || this.#condition(Condition, `Output ${id}`),
    );
    return Object.fromEntries(
      outputs.map(([id, { Value }]) => [id, String(evaluate(Value, this.#scope(`Output ${id}`)))]),
    );
  }

  #isPresent(logicalId: string): boolean {
    const condition = this.#template.Resources[logicalId]?.Condition;
    return condition === undefined || this.#condition(condition, logicalId);
  }

  #scope(where: string): Scope {
    return {
      where,
      ref: (name) => this.#ref(name, where),
      attribute: (logicalId, attribute) => this.#attribute(logicalId, attribute, where),
      condition: (name) => this.#condition(name, where),
      mapped: (map, first, second) => {
        const value = this.#template.Mappings[map]?.[first]?.[second];
        if (value === undefined)
          throw new InvalidTemplateError(where, `the mapping ${map}.${first}.${second} does not exist.`);
        return value;
      },
    };
  }

  #ref(name: string, where: string): unknown {
    if (name.startsWith('AWS::')) return this.#pseudoParameter(name, where);
    const parameter = this.#template.Parameters[name];
    if (parameter) {
      if (parameter.Default !== undefined) return parameter.Default;
      throw new UnsupportedTemplateError(
        where,
        `the parameter ${name} has no default, and nothing gives it a value here.`,
      );
    }
    return this.#target(name, where).ref;
  }

  #attribute(logicalId: string, attribute: string, where: string): string {
    const value = this.#target(logicalId, where).attributes[attribute];
    if (value !== undefined) return value;
    const type = this.#template.Resources[logicalId]?.Type;
    throw new UnsupportedTemplateError(
      where,
      `it asks for the attribute ${attribute} of ${logicalId}, which the embedded AWS does not have for ${type}.`,
    );
  }

  #target(logicalId: string, where: string): Identity {
    if (this.#template.Resources[logicalId] && this.#isPresent(logicalId)) return this.#identity(logicalId);
    throw new InvalidTemplateError(where, `it refers to ${logicalId}, which is not in the template.`);
  }

  #identity(logicalId: string): Identity {
    const known = this.#identities.get(logicalId);
    if (known) return known;
    const resource = this.#template.Resources[logicalId];
    const type = resource?.Type ?? '';
    const namer = namerOf(type);
    if (!namer)
      throw new UnsupportedTemplateError(
        logicalId,
        `the embedded AWS does not run resources of type ${type}.`,
      );
    if (this.#naming.has(logicalId)) throw new InvalidTemplateError(logicalId, 'its name refers to itself.');
    this.#naming.add(logicalId);
    const scope = this.#scope(`${logicalId} (${type})`);
    const property = (name: string): unknown => {
      const value = evaluate(resource?.Properties[name], scope);
      return value === NO_VALUE ? undefined : value;
    };
    const identity = namer({ logicalId, property }, this.#account);
    this.#naming.delete(logicalId);
    this.#identities.set(logicalId, identity);
    return identity;
  }

  #condition(name: string, where: string): boolean {
    const condition = this.#template.Conditions[name];
    if (condition === undefined)
      throw new InvalidTemplateError(where, `the condition ${name} is not in the template.`);
    return evaluateCondition(condition, this.#scope(`Condition ${name}`));
  }

  #pseudoParameter(name: string, where: string): unknown {
    const { region, accountId, stackName } = this.#account;
    switch (name) {
      case 'AWS::Region':
        return region;
      case 'AWS::AccountId':
        return accountId;
      case 'AWS::Partition':
        return 'aws';
      case 'AWS::URLSuffix':
        return 'amazonaws.com';
      case 'AWS::StackName':
        return stackName;
      case 'AWS::StackId':
        return `arn:aws:cloudformation:${region}:${accountId}:stack/${stackName}/local`;
      case 'AWS::NotificationARNs':
        return [];
      case 'AWS::NoValue':
        return NO_VALUE;
      default:
        throw new UnsupportedTemplateError(
          where,
          `the embedded AWS does not know the pseudo parameter ${name}.`,
        );
    }
  }
}
