import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { before, describe, test } from 'node:test';
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { lambda, type Resources, type Started, start } from './support.ts';

const CODE = {
  api: `export const handler = async (event) => {
    switch (event.rawPath) {
      case '/plain': return { hello: 'world' };
      case '/text': return { statusCode: 201, headers: { 'X-Own': 'yes', 'Content-Type': 'text/markdown' }, body: '# é', cookies: ['a=1', 'b=2'] };
      case '/binary': return { statusCode: 200, isBase64Encoded: true, body: Buffer.from([0, 255, 7]).toString('base64') };
      case '/malformed': return { statusCode: 'many' };
      case '/throw': throw new Error('secret detail');
      case '/slow': await new Promise((done) => setTimeout(done, 5000)); return {};
      default: return { statusCode: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(event) };
    }
  };`,
};

const integrations = (name: string) => ({ 'Fn::Join': ['', ['integrations/', { Ref: name }]] });

function route(key: string, properties: object = {}, integration = 'Integration'): Resources[string] {
  return {
    Type: 'AWS::ApiGatewayV2::Route',
    Properties: { ApiId: { Ref: 'Api' }, RouteKey: key, Target: integrations(integration), ...properties },
  };
}

const JWT = { AuthorizationType: 'JWT', AuthorizerId: { Ref: 'Token' } };

const RESOURCES: Resources = {
  Fn: lambda('api', { Timeout: 10 }),
  Off: lambda('api', { ReservedConcurrentExecutions: 0 }),
  Pool: { Type: 'AWS::Cognito::UserPool', Properties: {} },
  Client: { Type: 'AWS::Cognito::UserPoolClient', Properties: { UserPoolId: { Ref: 'Pool' } } },
  Api: {
    Type: 'AWS::ApiGatewayV2::Api',
    Properties: {
      Name: 'api',
      ProtocolType: 'HTTP',
      CorsConfiguration: {
        AllowOrigins: ['https://chat.example.com'],
        AllowMethods: ['GET', 'PUT'],
        AllowHeaders: ['authorization'],
        ExposeHeaders: ['location'],
        MaxAge: 3600,
      },
    },
  },
  Stage: {
    Type: 'AWS::ApiGatewayV2::Stage',
    Properties: { ApiId: { Ref: 'Api' }, StageName: '$default', AutoDeploy: true },
  },
  Integration: integration('Fn'),
  Impatient: integration('Fn', { TimeoutInMillis: 100 }),
  Unavailable: integration('Off'),
  Token: {
    Type: 'AWS::ApiGatewayV2::Authorizer',
    Properties: {
      ApiId: { Ref: 'Api' },
      AuthorizerType: 'JWT',
      Name: 'Token',
      IdentitySource: ['$request.header.Authorization'],
      JwtConfiguration: { Audience: [{ Ref: 'Client' }], Issuer: { 'Fn::GetAtt': ['Pool', 'ProviderURL'] } },
    },
  },
  Any: route('ANY /open/{proxy+}'),
  One: route('GET /open/items/{id}'),
  Slow: route('GET /slow', {}, 'Impatient'),
  Down: route('GET /down', {}, 'Unavailable'),
  Private: route('GET /private', JWT),
  Scoped: route('GET /scoped', { ...JWT, AuthorizationScopes: ['chat/write'] }),
  ...Object.fromEntries(
    ['plain', 'text', 'binary', 'malformed', 'throw'].map((path) => [path, route(`GET /${path}`)]),
  ),
};

function integration(target: string, properties: object = {}): Resources[string] {
  return {
    Type: 'AWS::ApiGatewayV2::Integration',
    Properties: {
      ApiId: { Ref: 'Api' },
      IntegrationType: 'AWS_PROXY',
      IntegrationUri: { 'Fn::GetAtt': [target, 'Arn'] },
      PayloadFormatVersion: '2.0',
      ...properties,
    },
  };
}

type Event = Record<string, unknown> & {
  requestContext: { http: Record<string, unknown>; authorizer?: { jwt: Record<string, unknown> } };
};

describe('the HTTP API', () => {
  let aws: Started;

  before(async () => {
    aws = await start(RESOURCES, CODE, {
      Outputs: {
        Client: { Value: { Ref: 'Client' } },
        Url: { Value: { 'Fn::GetAtt': ['Api', 'ApiEndpoint'] } },
      },
    });
  });

  const call = (path: string, init: RequestInit = {}) => fetch(`${aws.apiUrl}${path}`, init);
  const eventOf = async (path: string, init: RequestInit = {}) =>
    (await call(path, init)).json() as Promise<Event>;

  test('answers at the address of the output', () => {
    assert.equal(aws.outputs.Url, aws.apiUrl);
  });

  test('gives the function an event of payload format 2.0', async () => {
    const event = await eventOf('/open/a%20b/c?x=1&x=2&y=%C3%A9', {
      method: 'POST',
      headers: {
        'X-Own': 'Yes',
        cookie: 'k=v; l=w',
        'content-type': 'application/json',
        'user-agent': 'test',
      },
      body: '{"n":1}',
    });
    assert.equal(event.version, '2.0');
    assert.equal(event.routeKey, 'ANY /open/{proxy+}');
    assert.equal(event.rawPath, '/open/a%20b/c');
    assert.equal(event.rawQueryString, 'x=1&x=2&y=%C3%A9');
    assert.deepEqual(event.queryStringParameters, { x: '1,2', y: 'é' });
    assert.deepEqual(event.pathParameters, { proxy: 'a b/c' });
    assert.deepEqual(event.cookies, ['k=v', 'l=w']);
    assert.equal((event.headers as Record<string, string>)['x-own'], 'Yes');
    assert.equal(event.body, '{"n":1}');
    assert.equal(event.isBase64Encoded, false);
    const { http } = event.requestContext;
    assert.deepEqual(
      [http.method, http.path, http.sourceIp, http.userAgent],
      ['POST', '/open/a%20b/c', '127.0.0.1', 'test'],
    );
    assert.equal('authorizer' in event.requestContext, false);
  });

  test('encodes a binary body and leaves out an empty one', async () => {
    const binary = await eventOf('/open/x', {
      method: 'PUT',
      headers: { 'content-type': 'image/png' },
      body: new Uint8Array([0, 200]),
    });
    assert.equal(binary.isBase64Encoded, true);
    assert.equal(binary.body, 'AMg=');
    assert.equal('body' in (await eventOf('/open/x')), false);
  });

  test('prefers the most specific route and knows no other', async () => {
    assert.equal((await eventOf('/open/items/7')).routeKey, 'GET /open/items/{id}');
    const missing = await call('/nowhere');
    assert.equal(missing.status, 404);
    assert.deepEqual(await missing.json(), { message: 'Not Found' });
    assert.equal((await call('/private', { method: 'POST' })).status, 404);
  });

  test('turns what a function returns into an answer', async () => {
    const plain = await call('/plain');
    assert.equal(plain.headers.get('content-type'), 'application/json');
    assert.deepEqual([plain.status, await plain.json()], [200, { hello: 'world' }]);
    const text = await call('/text');
    assert.deepEqual([text.status, await text.text()], [201, '# é']);
    assert.equal(text.headers.get('x-own'), 'yes');
    assert.equal(text.headers.get('content-type'), 'text/markdown');
    assert.deepEqual(text.headers.getSetCookie(), ['a=1', 'b=2']);
    assert.deepEqual([...new Uint8Array(await (await call('/binary')).arrayBuffer())], [0, 255, 7]);
  });

  test('hides what went wrong inside', async () => {
    for (const path of ['/throw', '/malformed']) {
      const answer = await call(path);
      assert.deepEqual([answer.status, await answer.json()], [500, { message: 'Internal Server Error' }]);
    }
  });

  test('answers 503 when the function takes too long or is throttled', async () => {
    for (const path of ['/slow', '/down']) {
      const answer = await call(path);
      assert.deepEqual([answer.status, await answer.json()], [503, { message: 'Service Unavailable' }]);
    }
  });

  test('refuses a body over 10 MB, over what a function takes, and headers over 10 KB', async () => {
    for (const size of [10 * 1024 * 1024 + 1, 6 * 1024 * 1024])
      assert.equal((await call('/open/x', { method: 'POST', body: 'x'.repeat(size) })).status, 413);
    assert.equal((await call('/open/x', { headers: { 'x-long': 'x'.repeat(11_000) } })).status, 431);
  });

  test('survives a caller that goes away', async () => {
    const { hostname, port } = new URL(aws.apiUrl);
    const socket = connect(Number(port), hostname);
    await new Promise<void>((resolve) => socket.once('connect', () => resolve()));
    socket.write('POST /open/x HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\nhalf');
    socket.destroy();
    assert.equal((await call('/plain')).status, 200);
  });

  test('answers preflight requests of allowed origins by itself', async () => {
    const preflight = (origin: string) =>
      call('/private', { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'GET' } });
    const allowed = await preflight('https://chat.example.com');
    assert.equal(allowed.status, 204);
    assert.equal(allowed.headers.get('access-control-allow-origin'), 'https://chat.example.com');
    assert.equal(allowed.headers.get('access-control-allow-methods'), 'GET,PUT');
    assert.equal(allowed.headers.get('access-control-allow-headers'), 'authorization');
    assert.equal(allowed.headers.get('access-control-max-age'), '3600');
    assert.equal(
      (await preflight('https://other.example.com')).headers.get('access-control-allow-origin'),
      null,
    );
  });

  test('adds cross-origin headers for allowed origins only, also to its refusals', async () => {
    const refused = await call('/private', { headers: { origin: 'https://chat.example.com' } });
    assert.equal(refused.status, 401);
    assert.equal(refused.headers.get('access-control-allow-origin'), 'https://chat.example.com');
    assert.equal(refused.headers.get('access-control-expose-headers'), 'location');
    assert.equal(
      (await call('/plain', { headers: { origin: 'https://x.example' } })).headers.get(
        'access-control-allow-origin',
      ),
      null,
    );
  });

  describe('its authorizer', () => {
    const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
    const status = async (token: string, path = '/private') => (await call(path, bearer(token))).status;
    const issuer = async () => {
      const [pool] = aws.resources.filter(({ type }) => type === 'AWS::Cognito::UserPool');
      return pool?.runs ?? '';
    };

    test('lets a token of the pool through, with its claims as texts', async () => {
      const token = await aws.mintToken({
        sub: 'u1',
        groups: ['admin', 'staff'],
        'custom:age': 7,
        scope: 'a b',
      });
      const event = (await (await call('/private', bearer(token))).json()) as Event;
      const { claims, scopes } = (event.requestContext.authorizer?.jwt ?? {}) as {
        claims: Record<string, string>;
        scopes: unknown;
      };
      assert.equal(claims.sub, 'u1');
      assert.equal(claims['cognito:groups'], '[admin staff]');
      assert.equal(claims['custom:age'], '7');
      assert.equal(claims.client_id, aws.outputs.Client);
      assert.equal(claims.iss, await issuer());
      assert.match(claims.exp ?? '', /^\d+$/);
      assert.equal(scopes, null);
    });

    test('takes the audience from aud where there is one', async () => {
      assert.equal(await status(await aws.mintToken({ sub: 'u', aud: aws.outputs.Client })), 200);
      assert.equal(await status(await aws.mintToken({ sub: 'u', aud: ['x', aws.outputs.Client] })), 200);
    });

    test('takes the token without the word Bearer too', async () => {
      const token = await aws.mintToken({ sub: 'u' });
      assert.equal((await call('/private', { headers: { authorization: token } })).status, 200);
    });

    test('refuses every token that is not right', async () => {
      const now = Math.floor(Date.now() / 1000);
      const good = await aws.mintToken({ sub: 'u' });
      const claims = { sub: 'u', iss: await issuer(), client_id: aws.outputs.Client, exp: now + 600 };
      const stranger = await generateKeyPair('RS256');
      const refused: Record<string, string> = {
        garbage: 'garbage',
        expired: await aws.mintToken({ sub: 'u', expiresIn: -5 }),
        'not yet valid': await aws.mintToken({ sub: 'u', nbf: now + 600 }),
        'without an end': await aws.mintToken({ sub: 'u', exp: undefined }),
        'for another client': await aws.mintToken({ sub: 'u', client_id: 'other' }),
        'for another audience': await aws.mintToken({ sub: 'u', aud: 'other' }),
        'of another issuer': await aws.mintToken({ sub: 'u', iss: 'https://other.example.com' }),
        'not signed': new UnsecuredJWT(claims).encode(),
        'signed by someone else': await new SignJWT(claims)
          .setProtectedHeader({ alg: 'RS256', kid: header(good).kid ?? '' })
          .sign(stranger.privateKey),
        'of an unknown key': await new SignJWT(claims)
          .setProtectedHeader({ alg: 'RS256', kid: 'unknown' })
          .sign(stranger.privateKey),
        'signed with a public key as a secret': await publicKeyAsSecret(claims, await issuer()),
        'with a changed payload': tampered(good),
        'cut short': good.slice(0, -8),
      };
      for (const [what, token] of Object.entries(refused)) assert.equal(await status(token), 401, what);
    });

    test('refuses a request without a token in the words of API Gateway', async () => {
      const answer = await call('/private');
      assert.equal(answer.status, 401);
      assert.equal(answer.headers.get('www-authenticate'), 'Bearer');
      assert.deepEqual(await answer.json(), { message: 'Unauthorized' });
    });

    test('wants one of the scopes of a route', async () => {
      assert.equal(await status(await aws.mintToken({ sub: 'u', scope: 'chat/read' }), '/scoped'), 403);
      const token = await aws.mintToken({ sub: 'u', scope: 'chat/read chat/write' });
      const event = (await (await call('/scoped', bearer(token))).json()) as Event;
      assert.deepEqual(event.requestContext.authorizer?.jwt.scopes, ['chat/read', 'chat/write']);
    });
  });
});

function header(token: string): { kid?: string } {
  return JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString());
}

function tampered(token: string): string {
  const [head, body = '', signature] = token.split('.');
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString());
  return [
    head,
    Buffer.from(JSON.stringify({ ...claims, sub: 'root' })).toString('base64url'),
    signature,
  ].join('.');
}

async function publicKeyAsSecret(claims: object, issuer: string): Promise<string> {
  const { keys } = (await (await fetch(`${issuer}/.well-known/jwks.json`)).json()) as {
    keys: { n: string; kid: string }[];
  };
  const [key] = keys;
  return new SignJWT({ ...claims })
    .setProtectedHeader({ alg: 'HS256', kid: key?.kid ?? '' })
    .sign(Buffer.from(key?.n ?? ''));
}

test('an issuer of the operator’s own is asked for its keys, and no token is made here', async () => {
  const { createServer } = await import('node:http');
  const { privateKey, publicKey } = await generateKeyPair('RS256');
  const server = createServer((request, response) => {
    const url = `http://${request.headers.host}`;
    const body = request.url?.endsWith('openid-configuration')
      ? { issuer: url, jwks_uri: `${url}/keys` }
      : { keys: [jwk] };
    response.end(JSON.stringify(body));
  });
  const jwk = { ...(await exportJWK(publicKey)), kid: 'k', alg: 'RS256' };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const address = server.address();
  const issuer = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  try {
    const { Fn, Api, Stage, Integration, Private, Token } = RESOURCES as Record<string, Resources[string]>;
    const own = {
      ...Token,
      Properties: { ...Token?.Properties, JwtConfiguration: { Issuer: issuer, Audience: ['chat'] } },
    };
    const aws = await start({ Fn, Api, Stage, Integration, Private, Token: own } as Resources, CODE);
    const token = await new SignJWT({ sub: 'u', aud: 'chat' })
      .setProtectedHeader({ alg: 'RS256', kid: 'k' })
      .setIssuer(issuer)
      .setExpirationTime('5m')
      .sign(privateKey);
    assert.equal(
      (await fetch(`${aws.apiUrl}/private`, { headers: { authorization: `Bearer ${token}` } })).status,
      200,
    );
    await assert.rejects(aws.mintToken({ sub: 'u' }), { code: 'issuer_elsewhere' });
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

const REFUSED: readonly [what: string, change: Resources, message: RegExp][] = [
  [
    'another protocol',
    { Api: { Type: 'AWS::ApiGatewayV2::Api', Properties: { Name: 'a', ProtocolType: 'WEBSOCKET' } } },
    /^Api .*HTTP/,
  ],
  ['a second API', { Second: RESOURCES.Api as Resources[string] }, /^Second: .*second/],
  [
    'another payload format',
    { Integration: integration('Fn', { PayloadFormatVersion: '1.0' }) },
    /^Integration .*2\.0/,
  ],
  [
    'another authorizer',
    {
      Token: {
        Type: 'AWS::ApiGatewayV2::Authorizer',
        Properties: { ApiId: 'x', AuthorizerType: 'REQUEST', Name: 'T', IdentitySource: ['x'] },
      },
    },
    /^Token .*JWT/,
  ],
  ['a route to nowhere', { Any: route('GET /x', { Target: 'integrations/none' }) }, /^Any .*none/],
  ['an IAM route', { Any: route('GET /x', { AuthorizationType: 'AWS_IAM' }) }, /^Any .*AuthorizationType/],
];

for (const [what, change, message] of REFUSED)
  test(`an API with ${what} is refused at the start`, async () => {
    await assert.rejects(start({ ...RESOURCES, ...change }, CODE), { message });
  });
