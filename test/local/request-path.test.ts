import assert from 'node:assert/strict';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { lambda, start } from './support.ts';

/** Sends a path exactly as it is; `fetch` would tidy it up first. */
function send(
  url: string,
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path, method, headers }, async (response) => {
      let body = '';
      for await (const chunk of response) body += chunk;
      resolve(`${response.statusCode} ${body}`);
    });
    sent.once('error', reject);
    sent.end();
  });
}

test('a path that begins with two slashes is a path of the API, not a host and another path', async () => {
  const resources = {
    Api: { Type: 'AWS::ApiGatewayV2::Api', Properties: { Name: 'api', ProtocolType: 'HTTP' } },
    Stage: {
      Type: 'AWS::ApiGatewayV2::Stage',
      Properties: { ApiId: { Ref: 'Api' }, StageName: '$default' },
    },
    Echo: lambda('echo'),
    Integration: {
      Type: 'AWS::ApiGatewayV2::Integration',
      Properties: {
        ApiId: { Ref: 'Api' },
        IntegrationType: 'AWS_PROXY',
        IntegrationUri: { 'Fn::GetAtt': ['Echo', 'Arn'] },
        PayloadFormatVersion: '2.0',
      },
    },
    Route: {
      Type: 'AWS::ApiGatewayV2::Route',
      Properties: {
        ApiId: { Ref: 'Api' },
        RouteKey: 'ANY /{proxy+}',
        Target: { 'Fn::Sub': 'integrations/${Integration}' },
      },
    },
  };
  const code = 'export const handler = async ({ rawPath }) => ({ statusCode: 200, body: rawPath });';
  const aws = await start(resources, { echo: code });
  assert.equal(await send(aws.apiUrl, '//elsewhere.test/channels'), '200 //elsewhere.test/channels');
  assert.equal(await send(aws.apiUrl, '/channels?x=1'), '200 /channels');
});

test('the gateway never hands a request on to another host than its engine', async () => {
  let reached = 0;
  const stranger = createServer((_request, response) => {
    reached += 1;
    response.end('{}');
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => stranger.once('listening', resolve));
  const { port } = stranger.address() as AddressInfo;
  try {
    const aws = await start({ Jobs: { Type: 'AWS::SQS::Queue' } });
    const headers = {
      'x-amz-target': 'AmazonSQS.ListQueues',
      authorization: 'AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/sqs/aws4_request',
    };
    await send(aws.gatewayUrl, `//127.0.0.1:${port}/`, headers, 'POST');
    await send(aws.gatewayUrl, `http://127.0.0.1:${port}/`, headers, 'POST');
    assert.equal(reached, 0);
  } finally {
    stranger.close();
    stranger.closeAllConnections();
  }
});
