import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Match, type Template } from 'aws-cdk-lib/assertions';
import { functionOf, onlyResource, resourcesOf, stackTemplate } from './support.ts';

const own = stackTemplate();
const API = 'AWS::ApiGatewayV2::Api';
const AUTHORIZER = 'AWS::ApiGatewayV2::Authorizer';

function routes(template: Template): Record<string, unknown>[] {
  return [...resourcesOf(template, 'AWS::ApiGatewayV2::Route').values()].map(({ Properties }) => Properties);
}

describe('routes', () => {
  it('need a token, all but health and the API description', () => {
    const open = routes(own).filter((route) => route.AuthorizationType !== 'JWT');
    assert.deepEqual(open.map((route) => route.RouteKey).sort(), ['GET /health', 'GET /openapi.json']);
    const [authorizerId] = resourcesOf(own, AUTHORIZER).keys();
    const guarded = routes(own).filter((route) => route.AuthorizationType === 'JWT');
    assert.ok(
      guarded.every((route) => JSON.stringify(route.AuthorizerId) === JSON.stringify({ Ref: authorizerId })),
    );
  });

  it('reach the function by every method that the API has, and leave OPTIONS to the gateway', () => {
    const methods = routes(own)
      .map((route) => String(route.RouteKey).split(' '))
      .filter(([, path]) => path === '/{proxy+}')
      .map(([method]) => method);
    assert.deepEqual(methods.sort(), ['DELETE', 'GET', 'PATCH', 'POST', 'PUT']);
  });

  it('end before the gateway gives up', () => {
    assert.ok(functionOf(own, 'api').Timeout <= 30);
  });
});

describe('identity', () => {
  it('is a user pool of the stack when no issuer is given, without self sign-up', () => {
    const [poolId] = resourcesOf(own, 'AWS::Cognito::UserPool').keys();
    const [clientId] = resourcesOf(own, 'AWS::Cognito::UserPoolClient').keys();
    own.hasResourceProperties(AUTHORIZER, {
      AuthorizerType: 'JWT',
      JwtConfiguration: {
        Issuer: { 'Fn::GetAtt': [poolId, 'ProviderURL'] },
        Audience: [{ Ref: clientId }],
      },
    });
    own.hasResourceProperties('AWS::Cognito::UserPool', {
      AdminCreateUserConfig: { AllowAdminCreateUserOnly: true },
    });
    own.hasOutput('UserPoolId', { Value: { Ref: poolId } });
    own.hasOutput('ClientId', { Value: { Ref: clientId } });
  });

  it('has the group of the administrators under the name that the API looks for', () => {
    const template = stackTemplate({ adminGroup: 'platform' });
    assert.equal(onlyResource(template, 'AWS::Cognito::UserPoolGroup').Properties.GroupName, 'platform');
    assert.equal(functionOf(template, 'api').Environment.Variables.ADMIN_GROUP, 'platform');
  });

  it('is the given issuer, and then no pool is created', () => {
    const template = stackTemplate({ jwtIssuer: 'https://login.example.com/a', jwtAudience: 'web, mobile' });
    template.resourceCountIs('AWS::Cognito::UserPool', 0);
    template.hasResourceProperties(AUTHORIZER, {
      JwtConfiguration: { Issuer: 'https://login.example.com/a', Audience: ['web', 'mobile'] },
    });
    assert.ok(!('UserPoolId' in template.findOutputs('*')));
  });
});

describe('cross-origin calls', () => {
  it('are off unless origins are given', () => {
    own.hasResourceProperties(API, { CorsConfiguration: Match.absent() });
    assert.equal(functionOf(own, 'api').Environment.Variables.CORS_ORIGINS, '');
  });

  it('are allowed to the given origins alone, at the gateway and in the function', () => {
    const template = stackTemplate({ corsOrigins: 'https://chat.example.com,http://localhost:5173' });
    template.hasResourceProperties(API, {
      CorsConfiguration: Match.objectLike({
        AllowOrigins: ['https://chat.example.com', 'http://localhost:5173'],
      }),
    });
    const { CORS_ORIGINS } = functionOf(template, 'api').Environment.Variables;
    assert.equal(CORS_ORIGINS, 'https://chat.example.com,http://localhost:5173');
  });
});

describe('outputs', () => {
  it('name what an application needs', () => {
    const names = Object.keys(own.findOutputs('*')).sort();
    assert.deepEqual(names, ['ApiUrl', 'ClientId', 'EventBusName', 'QueueUrl', 'TableName', 'UserPoolId']);
  });
});
