import { StoreError, TooLargeError } from '../errors.ts';
import type { Item } from './db.ts';
import { ITEM_VERSION, messageItem, type StoredMessage, toMessage } from './items.ts';
import { keys } from './keys.ts';

/** Largest content of one message, in bytes of its JSON. */
export const MAX_CONTENT_BYTES = 1_048_576;
/** What the application may note on a message, in bytes of its JSON. */
export const MAX_METADATA_BYTES = 32_768;
/** What one part carries of a content; the limit of an item is 400 KB. */
const PART_BYTES = 390_000;
/** A larger content goes into parts whole: counting a child rewrites its parent's item, and its size is paid for. */
const INLINE_BYTES = 16_384;

/** Splits UTF-8 text into pieces of at most `PART_BYTES`, never inside a character. */
function split(text: string): string[] {
  const bytes = Buffer.from(text, 'utf8');
  const parts: string[] = [];
  let start = 0;
  while (start < bytes.length) {
    let end = Math.min(start + PART_BYTES, bytes.length);
    while (end < bytes.length && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
    parts.push(bytes.toString('utf8', start, end));
    start = end;
  }
  return parts;
}

function tooLarge(code: string, what: string, size: number, limit: number): TooLargeError {
  const kb = (bytes: number): string => `${Math.ceil(bytes / 1_024)} KB`;
  return new TooLargeError(
    code,
    `The ${what} of a message may have ${kb(limit)}; this one has ${kb(size)}. Nothing was stored.`,
  );
}

/**
 * The items of a message, the first of them the message itself. JSON escapes lone surrogates and control characters,
 * so that every string is stored exactly. Throws `TooLargeError` (`message_too_large`, `metadata_too_large`).
 */
export function messageItems(message: StoredMessage): Item[] {
  const json = JSON.stringify(message.content);
  const size = Buffer.byteLength(json);
  if (size > MAX_CONTENT_BYTES) throw tooLarge('message_too_large', 'content', size, MAX_CONTENT_BYTES);
  const head = messageItem(message);
  const noted = Buffer.byteLength(String(head.metadata));
  if (noted > MAX_METADATA_BYTES) throw tooLarge('metadata_too_large', 'metadata', noted, MAX_METADATA_BYTES);
  if (size <= INLINE_BYTES) return [{ ...head, content: json, parts: 0 }];
  const parts = split(json);
  return [
    { ...head, content: '', parts: parts.length },
    ...parts.map((content, index) => ({
      ...keys.messagePart(message.channelId, message.id, index + 1),
      v: ITEM_VERSION,
      partOf: message.id,
      content,
    })),
  ];
}

/** Messages out of items in key order: a message is followed by its parts. */
export function assemble(items: readonly Item[]): StoredMessage[] {
  const texts = new Map<string, string[]>();
  for (const { partOf, content } of items) {
    if (partOf === undefined) continue;
    const id = String(partOf);
    texts.set(id, [...(texts.get(id) ?? []), String(content)]);
  }
  return items
    .filter(({ partOf }) => partOf === undefined)
    .map((item) => {
      const parts = texts.get(String(item.id)) ?? [];
      if (parts.length !== Number(item.parts)) {
        throw new StoreError('message_incomplete', `Message ${String(item.id)} lacks a part of its content.`);
      }
      return toMessage(item, String(item.content) + parts.join(''));
    });
}
