import { readdir, readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import * as z from 'zod';
import { EmbeddedAwsError } from '../errors.ts';

const manifest = z.looseObject({
  files: z.record(
    z.string(),
    z.looseObject({
      source: z.looseObject({ path: z.string().optional() }),
      destinations: z.record(z.string(), z.looseObject({ objectKey: z.string() })),
    }),
  ),
});

/** Folder of the assembly by the key under which a deployment uploads it. */
export type Assets = ReadonlyMap<string, string>;

/** Reads every `*.assets.json` of a cloud assembly. Throws `EmbeddedAwsError` (`assembly_invalid`) for an unreadable one. */
export async function readAssets(assemblyDir: string): Promise<Assets> {
  const assets = new Map<string, string>();
  const names = await readdir(assemblyDir).catch((cause: unknown) => {
    throw new EmbeddedAwsError(
      'assembly_invalid',
      `The cloud assembly ${assemblyDir} cannot be read: synthesize it first.`,
      { cause },
    );
  });
  for (const name of names.filter((file) => file.endsWith('.assets.json'))) {
    const parsed = manifest.safeParse(JSON.parse(await readFile(join(assemblyDir, name), 'utf8')));
    if (!parsed.success)
      throw new EmbeddedAwsError(
        'assembly_invalid',
        `${join(assemblyDir, name)} is no asset manifest: synthesize again.`,
      );
    for (const { source, destinations } of Object.values(parsed.data.files))
      for (const { objectKey } of Object.values(destinations))
        if (source.path !== undefined) assets.set(objectKey, resolve(assemblyDir, source.path));
  }
  return assets;
}

const EXTENSIONS = ['.mjs', '.js', '.cjs'];

/** The file and export that a handler such as `index.handler` names inside a function's folder. */
export async function findHandler(
  where: string,
  folder: string | undefined,
  handler: string,
): Promise<{ file: string; exportName: string }> {
  if (folder === undefined || !(await isDirectory(folder)))
    throw new EmbeddedAwsError(
      'assembly_invalid',
      `${where}: its code is not in the cloud assembly: synthesize again.`,
    );
  const dot = handler.lastIndexOf('.');
  const [module, exportName] = [handler.slice(0, dot), handler.slice(dot + 1)];
  for (const extension of EXTENSIONS) {
    const file = join(folder, `${module}${extension}`);
    if (await stat(file).catch(() => undefined)) return { file, exportName };
  }
  throw new EmbeddedAwsError(
    'assembly_invalid',
    `${where}: the handler ${handler} names no file in ${folder}.`,
  );
}

async function isDirectory(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false;
}
