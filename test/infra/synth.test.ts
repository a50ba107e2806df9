import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ContextError } from '../../cdk/stages.ts';
import { synthesize } from '../../cdk/synth.ts';
import { temporaryFolder } from './support.ts';

describe('synthesize', () => {
  it('gives the template of the chosen stage and an assembly that holds the code of every function', async () => {
    const folder = temporaryFolder();
    const result = await synthesize({
      context: { stage: 'prod' },
      outDir: join(folder, 'out'),
      bundleDir: join(folder, 'dist'),
    });
    assert.equal(result.stackName, 'conversation-compaction-prod');
    assert.equal(result.assemblyDir, join(folder, 'out'));
    const functions = Object.values(result.template.Resources).filter(
      ({ Type }) => Type === 'AWS::Lambda::Function',
    );
    assert.equal(functions.length, 4);
    for (const resource of functions) {
      const path = String((resource as { Metadata?: Record<string, unknown> }).Metadata?.['aws:asset:path']);
      assert.ok(existsSync(join(result.assemblyDir, path, 'index.mjs')), `no code at ${path}`);
    }
    assert.ok(existsSync(join(result.functionsDir, 'scanner', 'index.mjs')));
  });

  it('refuses a wrong context value', async () => {
    const folder = temporaryFolder();
    const wrong = {
      context: { stage: 'test' },
      outDir: join(folder, 'out'),
      bundleDir: join(folder, 'dist'),
    };
    await assert.rejects(synthesize(wrong), ContextError);
  });
});
