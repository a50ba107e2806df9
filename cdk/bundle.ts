import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { type BuildFailure, type BuildOptions, build, type Message, type OutputFile } from 'esbuild';

/** Size limit of each function's bundle in bytes, minified. A larger bundle is a slower cold start. */
export const SIZE_LIMITS = {
  scanner: 600_000,
  compactor: 1_100_000,
  api: 1_300_000,
  trigger: 600_000,
} as const;

export type FunctionName = keyof typeof SIZE_LIMITS;
export const FUNCTION_NAMES: readonly FunctionName[] = ['scanner', 'compactor', 'api', 'trigger'];

export type Bundle = {
  readonly name: FunctionName;
  /** Folder that becomes the function's code: `index.mjs` and its source map, nothing else. */
  readonly directory: string;
  /** Bytes of `index.mjs`. */
  readonly bytes: number;
  readonly limit: number;
};

/** A function does not compile; the message names the function, the place and the reason. */
export class BundleError extends Error {
  override readonly name = 'BundleError';
}

const ROOT = resolve(import.meta.dirname, '..');

/** Some CommonJS dependencies call `require` for Node's own modules; an ES module has none unless it is made. */
const REQUIRE_BANNER =
  "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);";

const ESBUILD_OPTIONS = {
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  // The SDK's ES module builds can be tree-shaken; its CommonJS builds, esbuild's default here, cannot.
  mainFields: ['module', 'main'],
  minify: true,
  legalComments: 'none',
  sourcemap: 'linked',
  // Line numbers are what a stack trace needs; the sources would triple the upload.
  sourcesContent: false,
  banner: { js: REQUIRE_BANNER },
  metafile: true,
  write: false,
  logLevel: 'silent',
} as const satisfies BuildOptions;

/**
 * Bundles `<root>/functions/<name>/index.ts` into `<outDir>/functions/<name>/index.mjs`, with metafiles in `<outDir>/meta/`.
 * Rejects with `BundleError` when a function does not compile. Sizes are reported, not enforced here, so that
 * a size regression stops a build and not a local start; see `oversized`.
 */
export async function bundleFunctions(
  options: { root?: string; outDir?: string; names?: readonly FunctionName[] } = {},
): Promise<readonly Bundle[]> {
  const root = options.root ?? ROOT;
  const outDir = resolve(options.outDir ?? join(root, 'dist'));
  return Promise.all((options.names ?? FUNCTION_NAMES).map((name) => bundleOne(name, root, outDir)));
}

/** The bundles over their limit. */
export function oversized(bundles: readonly Bundle[]): readonly Bundle[] {
  return bundles.filter((bundle) => bundle.bytes > bundle.limit);
}

async function bundleOne(name: FunctionName, root: string, outDir: string): Promise<Bundle> {
  const directory = join(outDir, 'functions', name);
  const { outputFiles, metafile } = await compile(name, root, directory);
  await writeOutputs(directory, outputFiles);
  await mkdir(join(outDir, 'meta'), { recursive: true });
  await replaceFile(join(outDir, 'meta', `${name}.json`), Buffer.from(JSON.stringify(metafile)));
  const code = outputFiles.find((file) => file.path.endsWith('.mjs'));
  return { name, directory, bytes: code?.contents.byteLength ?? 0, limit: SIZE_LIMITS[name] };
}

async function compile(name: FunctionName, root: string, directory: string) {
  try {
    return await build({
      ...ESBUILD_OPTIONS,
      absWorkingDir: root,
      entryPoints: [join('functions', name, 'index.ts')],
      outfile: join(directory, 'index.mjs'),
    });
  } catch (error) {
    const [first] = (error as Partial<BuildFailure>).errors ?? [];
    if (first === undefined) throw error;
    throw new BundleError(`The function ${name} does not compile: ${describe(first)}`, { cause: error });
  }
}

function describe({ location, text }: Message): string {
  return location ? `${location.file}:${location.line}:${location.column + 1}: ${text}` : text;
}

async function writeOutputs(directory: string, files: readonly OutputFile[]): Promise<void> {
  await mkdir(directory, { recursive: true });
  const wanted = new Set(files.map((file) => basename(file.path)));
  for (const entry of await readdir(directory)) {
    // The whole folder is hashed and uploaded, so nothing left over may stay in it.
    if (!wanted.has(entry) && !entry.startsWith('.tmp-'))
      await rm(join(directory, entry), { recursive: true });
  }
  await Promise.all(files.map((file) => replaceFile(file.path, file.contents)));
}

/** A reader never sees half a file, and an unchanged file is not touched: several commands may bundle at once. */
async function replaceFile(path: string, contents: Uint8Array): Promise<void> {
  const present = await readFile(path).catch(() => undefined);
  if (present?.equals(contents)) return;
  const temporary = join(path, '..', `.tmp-${process.pid}-${basename(path)}`);
  await writeFile(temporary, contents);
  await rename(temporary, path);
}

function sizeTable(bundles: readonly Bundle[]): string {
  const kilobytes = (bytes: number) => `${(bytes / 1000).toFixed(0)} KB`.padStart(9);
  const rows = bundles.map(({ name, bytes, limit }) => {
    const verdict = bytes > limit ? 'TOO LARGE' : `${Math.round((bytes / limit) * 100)} %`;
    return `${name.padEnd(10)}${kilobytes(bytes)}${kilobytes(limit)}  ${verdict}`;
  });
  return [`${'function'.padEnd(10)}${'size'.padStart(9)}${'limit'.padStart(9)}  used`, ...rows].join('\n');
}

async function main(): Promise<void> {
  const bundles = await bundleFunctions();
  console.log(sizeTable(bundles));
  const tooLarge = oversized(bundles);
  if (tooLarge.length === 0) return;
  const names = tooLarge.map((bundle) => bundle.name).join(', ');
  throw new BundleError(`Over the size limit: ${names}. See dist/meta/<name>.json for what is inside.`);
}

if (import.meta.main) {
  await main().catch((error: unknown) => {
    if (!(error instanceof BundleError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  });
}
