import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { CONTEXT_NAMES, ContextError, parseContext } from '../../cdk/stages.ts';

const WRONG: readonly (readonly [Record<string, unknown>, RegExp])[] = [
  [{ stage: 'production' }, /^Context value: stage must be one of dev, prod, not "production"/],
  [{ modelProvider: 'gpt' }, /modelProvider must be one of auto, extractive, anthropic, not "gpt"/],
  [{ modelId: 'two words' }, /modelId must be a model name/],
  [{ modelBaseUrl: 'models.example.com' }, /modelBaseUrl must be empty or an address/],
  [{ modelSecretArn: 'my-key' }, /modelSecretArn must be empty or the complete ARN/],
  [
    { jwtIssuer: 'http://plain.example', jwtAudience: 'a' },
    /jwtIssuer must be empty or an address such as https:/,
  ],
  [{ jwtIssuer: 'https://login.example.com' }, /jwtAudience must be given together with jwtIssuer/],
  [{ jwtAudience: 'web' }, /jwtAudience must be given together with jwtIssuer/],
  [{ adminGroup: '' }, /adminGroup must be a group name/],
  [{ corsOrigins: '*' }, /corsOrigins must be origins/],
  [{ corsOrigins: 'https://a.example,https://b.example/path' }, /corsOrigins must be origins/],
  [{ compactorConcurrency: '0' }, /compactorConcurrency must be a whole number from 1 to 1000, not "0"/],
  [{ compactorConcurrency: '1001' }, /compactorConcurrency must be a whole number/],
  [{ compactorConcurrency: '2.5' }, /compactorConcurrency must be a whole number/],
  [{ compactorConcurrency: 'two' }, /compactorConcurrency must be a whole number/],
  [{ reserveConcurrency: 'no' }, /reserveConcurrency must be one of true, false/],
  [{ logLevel: 'verbose' }, /logLevel must be one of DEBUG, INFO, WARN, ERROR/],
  [{ stagee: 'prod' }, /^Unknown context value "stagee": use one of stage, /],
];

describe('context values', () => {
  it('have defaults that need no account and no model', () => {
    assert.deepEqual(parseContext({}), {
      stage: 'dev',
      modelProvider: 'auto',
      modelId: '',
      modelBaseUrl: '',
      modelSecretArn: '',
      jwtIssuer: '',
      jwtAudience: [],
      adminGroup: 'admin',
      corsOrigins: [],
      compactorConcurrency: 2,
      reserveConcurrency: true,
      logLevel: 'INFO',
    });
  });

  it('are read from text, as the command line gives them, and from JSON', () => {
    const fromText = parseContext({
      compactorConcurrency: '7',
      reserveConcurrency: 'false',
      corsOrigins: 'http://a:1, ',
    });
    const fromJson = parseContext({
      compactorConcurrency: 7,
      reserveConcurrency: false,
      corsOrigins: ['http://a:1'],
    });
    assert.deepEqual(fromText, fromJson);
    assert.equal(fromText.compactorConcurrency, 7);
    assert.equal(fromText.reserveConcurrency, false);
    assert.deepEqual(fromText.corsOrigins, ['http://a:1']);
  });

  it('are all explained in the deployment guide', () => {
    const guide = readFileSync(new URL('../../docs/deploy.md', import.meta.url), 'utf8');
    const explained = [...guide.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name);
    assert.deepEqual(explained, CONTEXT_NAMES);
  });

  it('leave the keys of the CDK alone', () => {
    const frameworks = { 'aws:cdk:enable-path-metadata': true, '@aws-cdk/core:x': 1, 'cli-telemetry': false };
    assert.deepEqual(parseContext(frameworks), parseContext({}));
  });

  for (const [context, message] of WRONG) {
    it(`refuse ${JSON.stringify(context)} in one sentence`, () => {
      assert.throws(
        () => parseContext(context),
        (error) =>
          error instanceof ContextError && message.test(error.message) && !error.message.includes('\n'),
      );
    });
  }
});
