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
import { askedMessage, keys, ranges } from './keys.ts';

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

  /** Messages by id; the parts of large ones cost a second round trip. */
  async function messages(channelId: string, ids: readonly string[]): Promise<(StoredMessage | undefined)[]> {
    const heads = await db.batchGet(ids.map((id) => askedMessage(channelId, id)));
    const partKeys = heads.flatMap((head) =>
      head === undefined
        ? []
        : Array.from({ length: Number(head.parts) }, (_, part) =>
            keys.messagePart(channelId, String(head.id), part + 1),
          ),
    );
    const parts = partKeys.length === 0 ? [] : await db.batchGet(partKeys);
    const known = [...heads, ...parts].filter((item) => item !== undefined);
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
