import * as z from 'zod';
import { UnsupportedTemplateError } from '../errors.ts';
import type { LambdaFunction } from '../functions/function.ts';
import { find } from '../template/find.ts';
import { noEffect, parseProperties } from '../template/properties.ts';
import type { Resource } from '../template/resolve.ts';
import { type Authorizer, createAuthorizer } from './authorizer.ts';
import { type Cors, corsConfiguration } from './cors.ts';
import { createRouter, type Router } from './routes.ts';

const apiProperties = z.strictObject({
  Name: z.string(),
  ProtocolType: z.literal('HTTP', 'only HTTP APIs run here'),
  CorsConfiguration: corsConfiguration.optional(),
  Description: noEffect,
  DisableExecuteApiEndpoint: noEffect,
  Tags: noEffect,
});
const stageProperties = z.strictObject({
  ApiId: z.string(),
  StageName: z.string(),
  AutoDeploy: noEffect,
  AccessLogSettings: noEffect,
  DefaultRouteSettings: noEffect,
  RouteSettings: noEffect,
  Description: noEffect,
  Tags: noEffect,
});
const routeProperties = z.strictObject({
  ApiId: z.string(),
  RouteKey: z.string(),
  Target: z.string().regex(/^integrations\//),
  AuthorizationType: z.enum(['NONE', 'JWT']).default('NONE'),
  AuthorizerId: z.string().optional(),
  AuthorizationScopes: z.array(z.string()).default([]),
  OperationName: noEffect,
});
const integrationProperties = z.strictObject({
  ApiId: z.string(),
  IntegrationType: z.literal('AWS_PROXY', 'only functions can answer here'),
  IntegrationUri: z.string(),
  PayloadFormatVersion: z.literal('2.0', 'only payload format 2.0 is known here'),
  IntegrationMethod: noEffect,
  TimeoutInMillis: z.coerce.number().int().min(50).max(30_000).default(30_000),
  Description: noEffect,
});

/** What answers a route. */
export type Endpoint = {
  readonly target: LambdaFunction;
  readonly timeoutMs: number;
  readonly authorizer: Authorizer | undefined;
  readonly scopes: readonly string[];
};

/** An HTTP API, connected to its functions. */
export type Api = {
  readonly id: string;
  readonly stage: string;
  readonly cors: Cors | undefined;
  readonly router: Router<Endpoint>;
};

/** The one HTTP API of a template. `onProblem` is told when an issuer cannot be asked for its keys. */
export function defineApi(
  resources: readonly Resource[],
  functions: readonly LambdaFunction[],
  onProblem: (message: string) => void,
): Api {
  const of = (type: string) => resources.filter((resource) => resource.type === `AWS::ApiGatewayV2::${type}`);
  const [api, second] = of('Api');
  if (!api) throw new UnsupportedTemplateError('Template', 'there is no HTTP API in it.');
  if (second)
    throw new UnsupportedTemplateError(
      second.logicalId,
      'the embedded AWS runs one HTTP API, and this is the second.',
    );
  const [stage, otherStage] = of('Stage');
  if (!stage || otherStage)
    throw new UnsupportedTemplateError(api.logicalId, 'an HTTP API needs exactly one stage here.');
  const authorizers = of('Authorizer').map((resource) => ({
    id: resource.ref,
    check: createAuthorizer(resource, onProblem),
  }));
  const integrations = of('Integration').map((resource) => ({
    id: resource.ref,
    ...integration(resource, functions),
  }));
  const routes = of('Route').map((resource) => {
    const { RouteKey, Target, AuthorizationType, AuthorizerId, AuthorizationScopes } = parseProperties(
      resource,
      routeProperties,
    );
    const where = `${resource.logicalId} (${resource.type})`;
    const { target, timeoutMs } = find(
      where,
      'integration',
      Target.slice('integrations/'.length),
      integrations,
      ({ id }) => [id],
    );
    const authorizer =
      AuthorizationType === 'NONE'
        ? undefined
        : find(where, 'authorizer', AuthorizerId ?? '', authorizers, ({ id }) => [id]).check;
    return { key: RouteKey, value: { target, timeoutMs, authorizer, scopes: AuthorizationScopes } };
  });
  const { CorsConfiguration: cors } = parseProperties(api, apiProperties);
  return {
    id: api.ref,
    stage: parseProperties(stage, stageProperties).StageName,
    cors,
    router: createRouter(api.logicalId, routes),
  };
}

function integration(
  resource: Resource,
  functions: readonly LambdaFunction[],
): { target: LambdaFunction; timeoutMs: number } {
  const { IntegrationUri: uri, TimeoutInMillis: timeoutMs } = parseProperties(
    resource,
    integrationProperties,
  );
  const where = `${resource.logicalId} (${resource.type})`;
  // Either the function's ARN or the ARN of its invocation, which holds it
  const target = find(where, 'function', uri, functions, ({ config }) => [
    config.arn,
    ...(uri.includes(`/functions/${config.arn}/invocations`) ? [uri] : []),
  ]);
  return { target, timeoutMs };
}
