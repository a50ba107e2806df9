import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import {
  type EmbeddedAws,
  type EmbeddedAwsOptions,
  type LogEntry,
  startEmbeddedAws,
} from '../../local/aws/index.ts';

export type Resources = Readonly<
  Record<string, { Type: string; Properties?: object; [other: string]: unknown }>
>;

const cleanups: (() => Promise<unknown>)[] = [];
after(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
});

/** A folder that is gone after the test file. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'embedded-aws-'));
  cleanups.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A cloud assembly with one asset per function, whose code is the module text given. */
export async function writeAssembly(code: Readonly<Record<string, string>>): Promise<string> {
  const folder = await temporaryFolder();
  const files: Record<string, object> = {};
  for (const [name, text] of Object.entries(code)) {
    await mkdir(join(folder, `asset.${name}`));
    await writeFile(join(folder, `asset.${name}`, 'index.mjs'), text);
    files[name] = {
      source: { path: `asset.${name}`, packaging: 'zip' },
      destinations: { current: { bucketName: 'assets', objectKey: `${name}.zip` } },
    };
  }
  await writeFile(join(folder, 'stack.assets.json'), JSON.stringify({ version: '55.0.0', files }));
  return folder;
}

/** A function resource whose code is the asset of the given name. */
export function lambda(asset: string, properties: object = {}): { Type: string; Properties: object } {
  return {
    Type: 'AWS::Lambda::Function',
    Properties: {
      Code: { S3Bucket: 'assets', S3Key: `${asset}.zip` },
      Handler: 'index.handler',
      Runtime: 'nodejs24.x',
      Role: 'arn:aws:iam::000000000000:role/any',
      ...properties,
    },
  };
}

export type Started = EmbeddedAws & { readonly logs: readonly LogEntry[] };

/** Runs a template of these resources, until the test file ends. */
export async function start(
  resources: Resources,
  code: Readonly<Record<string, string>> = {},
  options: Partial<EmbeddedAwsOptions> & { Outputs?: object } = {},
): Promise<Started> {
  const logs: LogEntry[] = [];
  const { Outputs, ...rest } = options;
  const aws = await startEmbeddedAws({
    template: { Resources: resources, ...(Outputs ? { Outputs } : {}) },
    assemblyDir: await writeAssembly(code),
    onLog: (entry) => logs.push(entry),
    ...rest,
  });
  cleanups.push(() => aws.stop({ timeoutMs: 100 }));
  return Object.assign(aws, { logs });
}

/** The first answer of `look` that is there; fails after `ms`. */
export async function eventually<T>(
  look: () => T | undefined | Promise<T | undefined>,
  ms = 8_000,
): Promise<T> {
  for (const began = performance.now(); performance.now() - began < ms; ) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('It did not happen in time.');
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
