import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRouter } from '../../local/aws/http/routes.ts';

const keys = [
  '$default',
  'GET /{proxy+}',
  'ANY /channels/{proxy+}',
  'GET /channels/{id}',
  'GET /channels/new',
  'ANY /channels/{id}',
  'GET /files/a.b',
];
const route = createRouter(
  'Api',
  keys.map((key) => ({ key, value: key })),
);

const CASES: readonly [method: string, path: string, key: string, parameters?: object][] = [
  ['GET', '/health', 'GET /{proxy+}', { proxy: 'health' }],
  ['GET', '/a/b/c', 'GET /{proxy+}', { proxy: 'a/b/c' }],
  ['GET', '/channels/new', 'GET /channels/new'],
  ['GET', '/channels/7', 'GET /channels/{id}', { id: '7' }],
  ['PUT', '/channels/7', 'ANY /channels/{id}', { id: '7' }],
  ['GET', '/channels/7/path', 'ANY /channels/{proxy+}', { proxy: '7/path' }],
  ['POST', '/elsewhere', '$default'],
  ['GET', '/', '$default'],
  ['GET', '/files/axb', 'GET /{proxy+}', { proxy: 'files/axb' }],
];

for (const [method, path, key, parameters = {}] of CASES)
  test(`${method} ${path} goes to ${key}`, () => {
    const match = route(method, path);
    assert.equal(match?.key, key);
    assert.deepEqual(match?.parameters, parameters);
  });

test('without a default route an unknown path has no match', () => {
  const strict = createRouter('Api', [{ key: 'GET /{proxy+}', value: 1 }]);
  assert.equal(strict('POST', '/health'), undefined);
  assert.equal(strict('GET', '/'), undefined);
});

test('a key that is no route is refused', () => {
  for (const key of ['GET', 'GET channels', 'GET /{a b}'])
    assert.throws(() => createRouter('Api', [{ key, value: 1 }]), { code: 'template_unsupported' });
});
