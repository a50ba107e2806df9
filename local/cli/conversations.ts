import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { ImportedMessage } from '../../lib/ports.ts';
import { ImportError, type ImportedConversation, parseConversations } from '../importers/index.ts';
import { type Api, ApiError, channelReply } from './api-client.ts';

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

const toMessage = (message: ImportedMessage) => ({
  ref: message.ref,
  parent_ref: message.parentRef,
  role: message.role,
  content: message.content,
  ...(message.createdAt === undefined ? {} : { created_at: message.createdAt }),
});

export type ImportOptions = { readonly model?: string; readonly lastActiveAt: Date };

/** Longest title that the API takes, in UTF-16 units. */
const MAX_TITLE = 300;

/** A conversation as `POST /channels/import` takes it. */
export const toImportBody = (conversation: ImportedConversation, { model, lastActiveAt }: ImportOptions) => ({
  title: conversation.title.slice(0, MAX_TITLE).toWellFormed(),
  ...(model === undefined ? {} : { model }),
  updated_at: lastActiveAt.toISOString(),
  messages: conversation.messages.map(toMessage),
  current_ref: conversation.currentRef,
});

/** One conversation through the API; returns the new channel's id. Throws `ApiError` that names the conversation. */
export async function importConversation(
  api: Api,
  conversation: ImportedConversation,
  options: ImportOptions,
): Promise<string> {
  try {
    const body = toImportBody(conversation, options);
    return (await api('POST', '/channels/import', channelReply, body)).id;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const message = `"${conversation.title}" was not imported: ${error.message}`;
    throw new ApiError(error.status, error.code, message);
  }
}
