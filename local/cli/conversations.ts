import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { ImportedMessage } from '../../lib/ports.ts';
import { ImportError, type ImportedConversation, parseConversations } from '../importers/index.ts';
import { type Api, channelReply } from './api-client.ts';

export const SAMPLES = resolve(import.meta.dirname, '../../samples');

const isExport = (name: string): boolean => /\.jsonl?$/.test(name);

/** The conversations that come with the product. */
export async function sampleFiles(): Promise<string[]> {
  return (await readdir(SAMPLES))
    .filter(isExport)
    .sort()
    .map((name) => join(SAMPLES, name));
}

async function read(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reason =
      code === 'ENOENT'
        ? 'there is no such file'
        : code === 'EISDIR'
          ? 'this is a folder, not a file'
          : `it cannot be read (${code})`;
    throw new ImportError(file, '', reason);
  }
}

/** Everything in the files, read and checked before the first of it is imported. Throws `ImportError`. */
export async function readConversations(files: readonly string[]): Promise<ImportedConversation[]> {
  const texts = await Promise.all(files.map(read));
  return texts.flatMap((text, index) => parseConversations(text, files[index] ?? ''));
}

const toBody = (message: ImportedMessage): Record<string, unknown> => ({
  ref: message.ref,
  parent_ref: message.parentRef,
  role: message.role,
  content: message.content,
  ...(message.createdAt === undefined ? {} : { created_at: message.createdAt }),
});

export type ImportOptions = { readonly model?: string; readonly lastActiveAt: Date };

/** One conversation through the API; returns the new channel's id. */
export async function importConversation(
  api: Api,
  conversation: ImportedConversation,
  options: ImportOptions,
): Promise<string> {
  const { id } = await api('POST', '/channels/import', channelReply, {
    title: conversation.title.slice(0, 300),
    ...(options.model === undefined ? {} : { model: options.model }),
    updated_at: options.lastActiveAt.toISOString(),
    messages: conversation.messages.map(toBody),
    current_ref: conversation.currentRef,
  });
  return id;
}
