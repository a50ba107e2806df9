import { StoreError, TooLargeError } from '../errors.ts';
import type { Item } from './db.ts';
import { ITEM_VERSION, messageItem, type StoredMessage, toMessage } from './items.ts';
import { keys } from './keys.ts';

/** Largest content of one message, in bytes of its JSON. */
export const MAX_CONTENT_BYTES = 1_048_576;
/** What one item carries of it; the limit of an item is 400 KB with everything else in it. */
const PART_BYTES = 350_000;

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

/**
 * The items of a message, the first of them the message itself. JSON escapes lone surrogates and control characters,
 * so that every string is stored exactly. Throws `TooLargeError` (`message_too_large`).
 */
export function messageItems(message: StoredMessage): Item[] {
  const json = JSON.stringify(message.content);
  const size = Buffer.byteLength(json);
  if (size > MAX_CONTENT_BYTES) {
    throw new TooLargeError(
      'message_too_large',
      `The content of a message may have 1 MB; this one has ${(size / MAX_CONTENT_BYTES).toFixed(1)} MB. Nothing was stored.`,
    );
  }
  const [first = '', ...rest] = split(json);
  const head = { ...messageItem(message), content: first, parts: rest.length };
  const parts = rest.map((content, index) => ({
    ...keys.messagePart(message.channelId, message.id, index + 1),
    v: ITEM_VERSION,
    partOf: message.id,
    content,
  }));
  return [head, ...parts];
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
