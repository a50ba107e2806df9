import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import * as z from 'zod';
import { type Bundle, BundleError, bundleFunctions, FUNCTION_NAMES, oversized } from '../../cdk/bundle.ts';
import { temporaryFolder } from './support.ts';

const outDir = temporaryFolder();
const stale = join(outDir, 'functions', 'scanner', 'stale.mjs');
mkdirSync(join(outDir, 'functions', 'scanner'), { recursive: true });
writeFileSync(stale, 'left over');
let bundles: readonly Bundle[];

const metafileSchema = z.looseObject({
  inputs: z.record(z.string(), z.unknown()),
  outputs: z.record(z.string(), z.looseObject({ exports: z.array(z.string()).optional() })),
});

describe('function bundles', () => {
  before(async () => {
    bundles = await bundleFunctions({ outDir });
  });

  for (const name of FUNCTION_NAMES) {
    it(`${name} stays within its size limit`, () => {
      const bundle = bundles.find((candidate) => candidate.name === name);
      const size = statSync(join(outDir, 'functions', name, 'index.mjs')).size;
      assert.equal(bundle?.bytes, size);
      assert.ok(
        size > 0 && size <= (bundle?.limit ?? 0),
        `${name} has ${size} bytes; the limit is ${bundle?.limit}`,
      );
    });

    it(`${name} is one module with a handler and its map, and nothing else is uploaded`, () => {
      const folder = join(outDir, 'functions', name);
      assert.deepEqual(readdirSync(folder).sort(), ['index.mjs', 'index.mjs.map']);
      const metafile = metafileSchema.parse(
        JSON.parse(readFileSync(join(outDir, 'meta', `${name}.json`), 'utf8')),
      );
      assert.ok(Object.values(metafile.outputs).some((output) => output.exports?.includes('handler')));
      assert.ok(Object.keys(metafile.inputs).includes(`functions/${name}/index.ts`));
      assert.match(
        readFileSync(join(folder, 'index.mjs'), 'utf8'),
        /\/\/# sourceMappingURL=index\.mjs\.map\s*$/,
      );
    });
  }

  it('are not touched when nothing changed, so that the asset stays the same', async () => {
    const path = join(outDir, 'functions', 'api', 'index.mjs');
    const before = statSync(path, { bigint: true });
    await bundleFunctions({ outDir, names: ['api'] });
    const after = statSync(path, { bigint: true });
    assert.equal(after.ino, before.ino);
    assert.equal(after.mtimeNs, before.mtimeNs);
  });
});

describe('functions', () => {
  it('that do not compile are told in one sentence with the place', async () => {
    const root = temporaryFolder();
    mkdirSync(join(root, 'functions', 'api'), { recursive: true });
    writeFileSync(join(root, 'functions', 'api', 'index.ts'), "import '../../lib/gone.ts';\n");
    await assert.rejects(
      bundleFunctions({ root, names: ['api'] }),
      (error) =>
        error instanceof BundleError &&
        /^The function api does not compile: functions\/api\/index\.ts:1:8: .*gone\.ts"?$/.test(
          error.message,
        ),
    );
  });

  it('run CommonJS dependencies that ask for modules of Node', async () => {
    const root = temporaryFolder();
    mkdirSync(join(root, 'functions', 'api'), { recursive: true });
    writeFileSync(join(root, 'functions', 'api', 'old.cjs'), "module.exports = require('node:path').sep;\n");
    writeFileSync(
      join(root, 'functions', 'api', 'index.ts'),
      "import sep from './old.cjs';\nexport const handler = () => sep;\n",
    );
    const [bundle] = await bundleFunctions({ root, names: ['api'] });
    const loaded: { handler: () => string } = await import(join(bundle?.directory ?? '', 'index.mjs'));
    assert.equal(loaded.handler(), '/');
  });

  it('over their limit are named', () => {
    const big = { name: 'api', directory: '', bytes: 11, limit: 10 } as const;
    const fits = { name: 'scanner', directory: '', bytes: 10, limit: 10 } as const;
    assert.deepEqual(oversized([big, fits]), [big]);
  });
});
