import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, it } from 'node:test';

const ROOT = resolve(import.meta.dirname, '..');

async function sources(folder: string): Promise<{ path: string; text: string }[]> {
  const entries = await readdir(join(ROOT, folder), { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && entry.name.endsWith('.ts'));
  return Promise.all(
    files.map(async ({ parentPath, name }) => {
      const path = join(parentPath, name);
      return { path: path.slice(ROOT.length + 1), text: await readFile(path, 'utf8') };
    }),
  );
}

const holding = (files: readonly { path: string; text: string }[], pattern: RegExp): string[] =>
  files.filter(({ text }) => pattern.test(text)).map(({ path }) => path);

describe('rules of the architecture that no import shows', () => {
  it('one module of the product reads the environment', async () => {
    const files = [...(await sources('lib')), ...(await sources('functions'))];
    assert.deepEqual(holding(files, /process\.env/), ['lib/env.ts']);
  });

  it('no part of lib reads a clock: time is handed in', async () => {
    assert.deepEqual(holding(await sources('lib'), /Date\.now\(\)|new Date\(\)|performance\.now\(\)/), []);
  });

  it('only the store knows the names of keys and indexes', async () => {
    const outside = (await sources('lib')).filter(({ path }) => !path.startsWith('lib/store/'));
    assert.deepEqual(holding(outside, /pressurePk|pressureSk|ConditionExpression|UpdateExpression/), []);
  });

  it('nothing that runs locally only is known to the product', async () => {
    const files = [...(await sources('lib')), ...(await sources('functions'))];
    assert.deepEqual(holding(files, /127\.0\.0\.1|localhost|dynoxide|fauxqs/), []);
  });
});
