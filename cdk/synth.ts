import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { bundleFunctions } from './bundle.ts';
import { parseContext } from './stages.ts';

const ROOT = resolve(import.meta.dirname, '..');

/** What the CLI sets by itself: the template names each resource's construct and each function's asset. */
const CLI_CONTEXT = { 'aws:cdk:enable-asset-metadata': true, 'aws:cdk:enable-path-metadata': true };

/**
 * The CDK's feature flags and any values kept in `cdk.json`. The CLI passes them on, a program would not have them, and
 * the template must not depend on who asked for it.
 */
async function fileContext(): Promise<Readonly<Record<string, unknown>>> {
  const file = JSON.parse(await readFile(resolve(ROOT, 'cdk.json'), 'utf8')) as {
    context?: Record<string, unknown>;
  };
  return file.context ?? {};
}

export type Template = {
  readonly Resources: Readonly<Record<string, { readonly Type: string; readonly Properties?: unknown }>>;
  readonly Outputs?: Readonly<Record<string, unknown>>;
};

export type SynthesizeOptions = {
  /** Context values of `stages.ts`; the CDK CLI's own are added when it started this process. */
  readonly context?: Readonly<Record<string, unknown>>;
  /** Where the cloud assembly goes; the CDK's choice by default. */
  readonly outDir?: string;
  /** Folder for bundles, `dist` by default. */
  readonly bundleDir?: string;
};

export type Synthesized = {
  readonly stackName: string;
  readonly template: Template;
  /** The cloud assembly: `manifest.json`, the template and the functions' code. */
  readonly assemblyDir: string;
  /** Folder of the built bundles, `<name>/index.mjs` each. */
  readonly functionsDir: string;
};

/**
 * Bundles the functions and synthesizes the stack, in this process and without network.
 * Throws `ContextError` for a wrong context value, `BundleError` for a function that does not compile.
 */
export async function synthesize(options: SynthesizeOptions = {}): Promise<Synthesized> {
  const bundleDir = resolve(options.bundleDir ?? resolve(ROOT, 'dist'));
  // Loading the CDK takes as long as bundling: side by side. A wrong context value is told before a compile error.
  const bundling = bundleFunctions({ outDir: bundleDir });
  bundling.catch(() => undefined);
  const [{ App }, { ConversationCompactionStack }] = await Promise.all([
    import('aws-cdk-lib'),
    import('./stack.ts'),
  ]);
  const context = { ...CLI_CONTEXT, ...(await fileContext()), ...options.context };
  const app = new App({
    analyticsReporting: false,
    context,
    ...(options.outDir === undefined ? {} : { outdir: options.outDir }),
  });
  const config = parseContext(app.node.getAllContext());
  await bundling;
  const functionsDir = resolve(bundleDir, 'functions');
  const stackName = `conversation-compaction-${config.stage}`;
  new ConversationCompactionStack(app, stackName, { config, codeDir: functionsDir });
  const assembly = app.synth();
  const { templateFullPath } = assembly.getStackByName(stackName);
  const template = JSON.parse(await readFile(templateFullPath, 'utf8')) as Template;
  return { stackName, template, assemblyDir: assembly.directory, functionsDir };
}
