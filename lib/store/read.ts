import { InvalidInputError, NotFoundError } from '../errors.ts';
import { assemble } from './content.ts';
import type { StoreContext } from './context.ts';
import type { Item } from './db.ts';
import {
  emptyCursor,
  type StoredChannel,
  type StoredCursor,
  type StoredMessage,
  toChannel,
  toCursor,
} from './items.ts';
import { askedMessage, type Key, keys, ranges } from './keys.ts';

/** A channel that is there and not deleted. Throws `NotFoundError` (`channel_not_found`). */
export function liveChannel(item: Item | undefined, channelId: string): StoredChannel {
  if (item === undefined || item.deletedAt !== undefined) {
    throw new NotFoundError('channel_not_found', `There is no channel ${channelId}.`);
  }
  return toChannel(item);
}

export const cursorOf = (item: Item | undefined, channelId: string, userId: string): StoredCursor =>
  item === undefined ? emptyCursor(channelId, userId) : toCursor(item);

export const unknownMessage = (messageId: string): NotFoundError =>
  new NotFoundError('message_not_found', `There is no message ${messageId} in this channel.`);

function furtherParts(channelId: string, head: Item, firstIsRead: boolean): Key[] {
  const numbers = Array.from({ length: Number(head.parts) }, (_, index) => index + 1);
  return numbers.slice(firstIsRead ? 1 : 0).map((part) => keys.messagePart(channelId, String(head.id), part));
}

export function createReader({ db }: StoreContext) {
  /** Channel and cursor in one round trip. */
  async function channelAndCursor(channelId: string, userId: string) {
    const [meta, cursor] = await db.batchGet([keys.meta(channelId), keys.cursor(channelId, userId)]);
    return { channel: liveChannel(meta, channelId), cursor: cursorOf(cursor, channelId, userId) };
  }

  /** Messages after `after` (exclusive) up to `until` (the newest), of every branch, in the order of their ids. */
  async function range(channelId: string, after?: string, until?: string): Promise<StoredMessage[]> {
    return assemble(await db.queryAll(ranges.messages(channelId, after, until)));
  }

  /**
   * Messages by id. Parts cost a second round trip, unless `large` asks for the first part at once: most large contents
   * have no other.
   */
  async function messages(
    channelId: string,
    ids: readonly string[],
    large = false,
  ): Promise<(StoredMessage | undefined)[]> {
    const headKeys = ids.map((id) => askedMessage(channelId, id));
    const firstKeys = large ? ids.map((id) => keys.messagePart(channelId, id, 1)) : [];
    const read = await db.batchGet([...headKeys, ...firstKeys]);
    const [heads, firstParts] = [read.slice(0, ids.length), read.slice(ids.length)];
    const partKeys = heads.flatMap((head) =>
      head === undefined ? [] : furtherParts(channelId, head, large),
    );
    const parts = partKeys.length === 0 ? [] : await db.batchGet(partKeys);
    const known = [...heads, ...firstParts, ...parts].filter((item) => item !== undefined);
    const byId = new Map(assemble(known).map((message) => [message.id, message]));
    return ids.map((id) => byId.get(id));
  }

  /** Throws `NotFoundError` (`message_not_found`). */
  async function message(channelId: string, messageId: string): Promise<StoredMessage> {
    const [found] = await messages(channelId, [messageId]);
    if (found === undefined) throw unknownMessage(messageId);
    return found;
  }

  return { channelAndCursor, range, messages, message };
}

export const unknownParent = (parentId: string): InvalidInputError =>
  new InvalidInputError('unknown_parent', `There is no message ${parentId} in this channel to answer to.`);
