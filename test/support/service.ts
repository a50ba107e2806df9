import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { synthesize } from '../../cdk/synth.ts';
import { type EmbeddedAws, type LogEntry, startEmbeddedAws } from '../../local/aws/index.ts';
import { type Api, anyReply, createApi } from '../../local/cli/api-client.ts';

export type Service = {
  readonly aws: EmbeddedAws;
  readonly owner: Api;
  readonly admin: Api;
  readonly log: LogEntry[];
  set(key: string, value: unknown): Promise<unknown>;
};

export type ServiceOptions = {
  readonly context?: Record<string, string>;
  /** Changes the template before it runs. */
  readonly edit?: (template: string) => string;
  readonly environment?: Record<string, string>;
};

const cleanUps: (() => Promise<unknown>)[] = [];
after(async () => {
  for (const cleanUp of cleanUps.toReversed()) await cleanUp();
});

type Synthesized = Awaited<ReturnType<typeof synthesize>>;
const syntheses = new Map<string, Promise<Synthesized>>();

/** Test files run side by side: each has a folder of its own for bundles and assembly, one for each context. */
function synthesizeOnce(context: Record<string, string>): Promise<Synthesized> {
  const name = JSON.stringify(context);
  const known = syntheses.get(name);
  if (known) return known;
  const made = mkdtemp(join(tmpdir(), 'compaction-test-')).then((folder) => {
    cleanUps.unshift(() => rm(folder, { recursive: true, force: true }));
    return synthesize({ context, outDir: join(folder, 'cdk.out'), bundleDir: join(folder, 'dist') });
  });
  syntheses.set(name, made);
  return made;
}

/** The whole service on the embedded AWS, a minute of its schedule in a second; ends with the test file. */
export async function startService({
  context = {},
  edit,
  environment = {},
}: ServiceOptions = {}): Promise<Service> {
  const { template, assemblyDir, stackName } = await synthesizeOnce(context);
  const log: LogEntry[] = [];
  const aws = await startEmbeddedAws({
    template: edit ? (JSON.parse(edit(JSON.stringify(template))) as object) : template,
    assemblyDir,
    stackName,
    environment,
    schedule: { minuteMs: 1_000 },
    onLog: (entry) => void log.push(entry),
  });
  cleanUps.push(() => aws.stop());
  const owner = createApi(aws.apiUrl, await aws.mintToken({ sub: 'ann' }));
  const admin = createApi(aws.apiUrl, await aws.mintToken({ sub: 'root', groups: ['admin'] }));
  return {
    aws,
    owner,
    admin,
    log,
    set: (key, value) => admin('PUT', `/admin/settings/${key}`, anyReply, { value }),
  };
}

/** Resolves with the first value that is not `undefined`; fails when there is none for a minute. */
export async function eventually<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  for (const startedAt = performance.now(); performance.now() - startedAt < 60_000; ) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${what} did not happen within a minute`);
}
