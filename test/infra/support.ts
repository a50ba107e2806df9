import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import * as z from 'zod';
import { FUNCTION_NAMES, type FunctionName } from '../../cdk/bundle.ts';
import { ConversationCompactionStack } from '../../cdk/stack.ts';
import { parseContext } from '../../cdk/stages.ts';

/** A folder that is gone when the test process ends. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'infra-test-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The stack's template for these context values, with stubs in place of the functions' bundles. */
export function stackTemplate(context: Record<string, unknown> = {}): Template {
  const folder = temporaryFolder();
  for (const name of FUNCTION_NAMES) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'index.mjs'), 'export const handler = () => {};\n');
  }
  const app = new App({ analyticsReporting: false, outdir: join(folder, 'out') });
  const stack = new ConversationCompactionStack(app, 'test', {
    config: parseContext(context),
    codeDir: folder,
  });
  return Template.fromStack(stack);
}

const resourceSchema = z.looseObject({
  Type: z.string(),
  DeletionPolicy: z.string().optional(),
  Properties: z.record(z.string(), z.unknown()).default({}),
});
export type Resource = z.infer<typeof resourceSchema>;

/** All resources of a type, by logical id. */
export function resourcesOf(template: Template, type: string): Map<string, Resource> {
  const found = Object.entries(template.findResources(type));
  return new Map(found.map(([id, resource]) => [id, resourceSchema.parse(resource)]));
}

/** The one resource of a type. */
export function onlyResource(template: Template, type: string): Resource {
  const [first, ...others] = resourcesOf(template, type).values();
  if (first === undefined || others.length > 0) throw new Error(`Expected exactly one ${type}`);
  return first;
}

const functionSchema = z.looseObject({
  Environment: z.object({ Variables: z.record(z.string(), z.unknown()) }),
  Role: z.object({ 'Fn::GetAtt': z.tuple([z.string(), z.literal('Arn')]) }),
  Timeout: z.number(),
  ReservedConcurrentExecutions: z.number().optional(),
});
export type FunctionProperties = z.infer<typeof functionSchema>;

/** The properties of one of the product's functions. */
export function functionOf(template: Template, name: FunctionName): FunctionProperties {
  const all = [...resourcesOf(template, 'AWS::Lambda::Function').values()];
  const parsed = all.map((resource) => functionSchema.parse(resource.Properties));
  const found = parsed.find((fn) => fn.Environment.Variables.POWERTOOLS_SERVICE_NAME === name);
  if (found === undefined) throw new Error(`No function ${name} in the template`);
  return found;
}

const statementSchema = z.looseObject({
  Effect: z.enum(['Allow', 'Deny']),
  Action: z.union([z.string(), z.array(z.string())]),
  Resource: z.unknown(),
});
const policySchema = z.looseObject({
  PolicyDocument: z.object({ Statement: z.array(statementSchema) }),
  Roles: z.array(z.object({ Ref: z.string() })),
});

export type Grant = {
  readonly role: string;
  readonly actions: readonly string[];
  readonly resources: readonly unknown[];
};

/** Everything that the roles of the stack allow, statement by statement. */
export function grantsOf(template: Template): readonly Grant[] {
  const policies = [...resourcesOf(template, 'AWS::IAM::Policy').values()];
  return policies.flatMap(({ Properties }) => {
    const { PolicyDocument, Roles } = policySchema.parse(Properties);
    return Roles.flatMap((role) =>
      PolicyDocument.Statement.filter((statement) => statement.Effect === 'Allow').map((statement) => ({
        role: role.Ref,
        actions: [statement.Action].flat(),
        resources: [statement.Resource].flat(),
      })),
    );
  });
}

/** The part of `grantsOf` that belongs to one function. */
export function grantsOfFunction(template: Template, name: FunctionName): readonly Grant[] {
  const [role] = functionOf(template, name).Role['Fn::GetAtt'];
  return grantsOf(template).filter((grant) => grant.role === role);
}
