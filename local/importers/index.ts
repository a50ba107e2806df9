import { basename, extname } from 'node:path';
import type * as z from 'zod';
import { chatgptExport, fromChatgpt } from './chatgpt.ts';
import { claudeExport, fromClaude } from './claude.ts';
import { parseJson } from './json.ts';
import { fromOpenWebui, openWebuiExport } from './openwebui.ts';
import { fromPlain } from './plain.ts';
import { ImportError, type ImportedConversation, PlaceError } from './types.ts';

export { ImportError, type ImportedConversation } from './types.ts';

const UNKNOWN =
  'this is no conversation; known are exports of ChatGPT, Claude and Open WebUI, and messages with role and content as JSON or JSONL';

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isMessage = (value: unknown): boolean => isObject(value) && 'role' in value;

/** One conversation of a known export. Throws `PlaceError`. */
function fromExport(value: unknown): ImportedConversation {
  if (!isObject(value)) throw new PlaceError('', UNKNOWN);
  const inner = isObject(value.chat) ? { title: value.title, ...value.chat } : value;
  if (isObject(inner.mapping)) return fromChatgpt(checked(chatgptExport, inner));
  if (Array.isArray(inner.chat_messages)) return fromClaude(checked(claudeExport, inner));
  if (isObject(inner.history)) return fromOpenWebui(checked(openWebuiExport, inner));
  if (Array.isArray(inner.messages)) return fromMessages(inner.messages, inner);
  throw new PlaceError('', UNKNOWN);
}

function fromMessages(messages: readonly unknown[], { title, continues }: Record<string, unknown>) {
  const named = typeof title === 'string' && title !== '' ? title : 'Conversation';
  const conversation = fromPlain(messages, named, (index) => `messages[${index}]`);
  if (!Array.isArray(continues)) return conversation;
  const later = fromPlain(continues, named, (index) => `continues[${index}]`);
  return { ...conversation, continues: later.messages };
}

function checked<T extends z.ZodType>(schema: T, value: unknown): z.output<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new PlaceError(issue?.path.map(String).join('.') ?? '', issue?.message ?? 'not of this export');
}

/** Does the work on what stands at `place` of the file, and tells file and place when it fails. */
function located(file: string, place: string, work: () => ImportedConversation): ImportedConversation {
  try {
    const conversation = work();
    if (conversation.messages.length > 0) return conversation;
  } catch (error) {
    if (!(error instanceof PlaceError)) throw error;
    const inside = [place, error.place].filter((part) => part !== '').join('.');
    throw new ImportError(file, inside, error.message);
  }
  throw new ImportError(file, place, 'the conversation has no messages');
}

/**
 * The conversations of an export: ChatGPT, Claude, Open WebUI, or plain messages as JSON or JSONL. The format is told
 * by its content. All of it is checked before any of it is returned. Throws `ImportError`.
 */
export function parseConversations(text: string, fileName: string): ImportedConversation[] {
  const file = basename(fileName);
  if (text.trim() === '') throw new ImportError(file, '', 'the file is empty');
  const { value, placeOf } = parseJson(text.replace(/^\ufeff/, ''), file);
  const title = basename(file, extname(file));
  if (isMessage(value)) return [located(file, '', () => fromPlain([value], title, () => 'line 1'))];
  if (!Array.isArray(value)) return [located(file, '', () => fromExport(value))];
  if (value.length === 0)
    throw new ImportError(file, '', 'the list is empty; there is no conversation in it');
  if (value.some(isMessage)) return [located(file, '', () => fromPlain(value, title, placeOf))];
  return value.map((entry, index) => located(file, placeOf(index), () => fromExport(entry)));
}
