import { accessSync, constants, mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EmbeddedAwsError } from '../errors.ts';

type Owner = { readonly pid: number; readonly startedAt: string };

/**
 * Keeps a second instance out of a data folder; returns what releases it. A lock whose process is gone is taken over.
 * Throws `EmbeddedAwsError` (`data_in_use`) when its process still runs.
 */
export function lockDataDir(dataDir: string): () => void {
  makeFolder(dataDir);
  const file = join(dataDir, 'lock');
  const own = JSON.stringify({ pid: process.pid, startedAt: startOf(process.pid) } satisfies Owner);
  for (let attempt = 0; attempt < 5; attempt += 1) {
    if (createExclusively(file, own)) return () => remove(file);
    const owner = readOwner(file);
    if (owner && isRunning(owner)) throw inUse(dataDir, owner.pid);
    remove(file);
  }
  throw inUse(dataDir, 0);
}

function makeFolder(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true });
    accessSync(dataDir, constants.W_OK);
  } catch (cause) {
    throw new EmbeddedAwsError(
      'data_unusable',
      `The data folder ${dataDir} cannot be written to (${(cause as NodeJS.ErrnoException).code}): choose another one, or start in memory.`,
      { cause },
    );
  }
}

function inUse(dataDir: string, pid: number): EmbeddedAwsError {
  const who = pid === 0 ? 'another process' : `process ${pid}`;
  return new EmbeddedAwsError(
    'data_in_use',
    `The data in ${dataDir} is used by ${who}: stop that one first, or start with another folder or in memory.`,
    { details: { pid } },
  );
}

function createExclusively(file: string, content: string): boolean {
  try {
    writeFileSync(file, content, { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function readOwner(file: string): Owner | undefined {
  try {
    const owner = JSON.parse(readFileSync(file, 'utf8')) as Partial<Owner>;
    return typeof owner.pid === 'number'
      ? { pid: owner.pid, startedAt: String(owner.startedAt ?? '') }
      : undefined;
  } catch {
    // Half a lock is left by a crash while it was written
    return undefined;
  }
}

function isRunning({ pid, startedAt }: Owner): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  return startedAt === '' || startedAt === startOf(pid);
}

/** When a process began, in clock ticks: a pid that was given to another process later has another start. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The program's name, in parentheses, may hold spaces; the start is the 20th field after it.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}

function remove(file: string): void {
  try {
    unlinkSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
