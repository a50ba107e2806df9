import { basename, extname } from 'node:path';
import type * as z from 'zod';
import { chatgptExport, fromChatgpt } from './chatgpt.ts';
import { claudeExport, fromClaude } from './claude.ts';
import { fromOpenWebui, openWebuiExport } from './openwebui.ts';
import { fromPlain } from './plain.ts';
import { ImportError, type ImportedConversation, PlaceError } from './types.ts';

export { ImportError, type ImportedConversation } from './types.ts';

type Located = { readonly value: unknown; readonly place: string };

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The place of a JSON error as line and column; empty when the parser does not tell. */
function whereOf(error: unknown, text: string): string {
  const at = /position (\d+)/.exec(String(error))?.[1];
  if (at === undefined && !unfinished(error)) return '';
  const before = text.slice(0, at === undefined ? text.length : Number(at));
  const line = before.split('\n').length;
  return `line ${line}, column ${before.length - before.lastIndexOf('\n')}`;
}

const unfinished = (error: unknown): boolean => /Unexpected end|Unterminated/.test(String(error));

/** One JSON document, or one a line. */
function parse(text: string, file: string): { value: unknown; lines: boolean } {
  try {
    return { value: JSON.parse(text), lines: false };
  } catch (error) {
    const lines = text.split('\n').filter((line) => line.trim() !== '');
    if (lines.length > 1 && isJson(lines[0]))
      return { value: lines.map((line, index) => parseLine(line, index, file)), lines: true };
    throw new ImportError(
      file,
      whereOf(error, text),
      unfinished(error) ? 'the JSON ends too early; is the file cut off?' : 'this is not JSON',
    );
  }
}

function isJson(line: string | undefined): boolean {
  try {
    return isObject(JSON.parse(line ?? ''));
  } catch {
    return false;
  }
}

function parseLine(line: string, index: number, file: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new ImportError(file, `line ${index + 1}`, 'this line is not JSON; is the file cut off?');
  }
}

/** One conversation of a known export, or `undefined` when the value is none. */
function fromExport({ value, place }: Located): ImportedConversation | undefined {
  if (!isObject(value)) return undefined;
  const inner = isObject(value.chat) ? { title: value.title, ...value.chat } : value;
  if (isObject(inner.mapping)) return fromChatgpt(checked(chatgptExport, inner, place));
  if (Array.isArray(inner.chat_messages)) return fromClaude(checked(claudeExport, inner, place));
  if (isObject(inner.history)) return fromOpenWebui(checked(openWebuiExport, inner, place));
  if (Array.isArray(inner.messages)) {
    const title = typeof inner.title === 'string' ? inner.title : 'Conversation';
    const conversation = fromPlain(inner.messages, title, (index) => `messages[${index}]`);
    if (!Array.isArray(inner.continues)) return conversation;
    const later = fromPlain(inner.continues, title, (index) => `continues[${index}]`);
    return { ...conversation, continues: later.messages };
  }
  return undefined;
}

function checked<T extends z.ZodType>(schema: T, value: unknown, place: string): z.output<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const inside = issue?.path.map(String).join('.') ?? '';
  throw new PlaceError(
    [place, inside].filter((part) => part !== '').join('.'),
    issue?.message ?? 'not of this export',
  );
}

function withPlace<T>(file: string, outer: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof PlaceError)) throw error;
    const place =
      outer !== '' && error.place !== '' && !error.place.startsWith(outer)
        ? `${outer}.${error.place}`
        : error.place || outer;
    throw new ImportError(file, place, error.message);
  }
}

function nonEmpty(conversation: ImportedConversation, file: string, place: string): ImportedConversation {
  if (conversation.messages.length > 0) return conversation;
  throw new ImportError(file, place, 'the conversation has no messages');
}

/**
 * The conversations of an export: ChatGPT, Claude, Open WebUI, or plain messages as JSON or JSONL. The format is told
 * by its content. All of it is checked before any of it is returned. Throws `ImportError`.
 */
export function parseConversations(text: string, fileName: string): ImportedConversation[] {
  const file = basename(fileName);
  if (text.trim() === '') throw new ImportError(file, '', 'the file is empty');
  const { value, lines } = parse(text.replace(/^\ufeff/, ''), file);
  const title = basename(file, extname(file));
  if (Array.isArray(value) && value.length === 0)
    throw new ImportError(file, '', 'the list is empty; there is no conversation in it');

  const [first] = Array.isArray(value) ? value : [value];
  const looksPlain = Array.isArray(value) && isObject(first) && 'role' in first;
  if (looksPlain) {
    const placeOf = (index: number): string => (lines ? `line ${index + 1}` : `[${index}]`);
    return [
      nonEmpty(
        withPlace(file, '', () => fromPlain(value, title, placeOf)),
        file,
        '',
      ),
    ];
  }
  const located: Located[] = Array.isArray(value)
    ? value.map((entry, index) => ({ value: entry, place: `[${index}]` }))
    : [{ value, place: '' }];
  return located.map((entry) => {
    const conversation = withPlace(file, entry.place, () => fromExport(entry));
    if (conversation === undefined) {
      throw new ImportError(
        file,
        entry.place,
        'this is no conversation; known are exports of ChatGPT, Claude and Open WebUI, and messages with role and content as JSON or JSONL',
      );
    }
    return nonEmpty(conversation, file, entry.place);
  });
}
