import type { ChannelPatch, ConversationStore, NewChannel } from '../ports.ts';
import { modelKeyOf } from '../settings/budget.ts';
import type { Channel, ChannelSettings } from '../treepath/channel.ts';
import type { StoreContext } from './context.ts';
import { type Item, optimistic, type Write } from './db.ts';
import {
  channelItem,
  cursorItem,
  ITEM_VERSION,
  publicChannel,
  type StoredChannel,
  toChannel,
  toCursor,
} from './items.ts';
import { keys, ranges } from './keys.ts';
import { pressureAttributes } from './pressure.ts';
import { liveChannel } from './read.ts';

type ChannelStore = Pick<
  ConversationStore,
  'createChannel' | 'getChannel' | 'listChannels' | 'updateChannel' | 'deleteChannel'
>;

/** Cursors written together with their channel; the rest of a transaction's hundred items. */
const CURSORS_PER_TRANSACTION = 90;

/** A new channel of now; its id sorts by creation. */
export function newStoredChannel(context: StoreContext, channel: NewChannel, rootCount = 0): StoredChannel {
  const { activeAt: _activeAt, ...rest } = channel;
  const now = new Date(context.clock()).toISOString();
  return {
    id: context.newId(),
    ...rest,
    archived: false,
    createdAt: now,
    updatedAt: now,
    compaction: { fence: 0 },
    version: 1,
    rootCount,
  };
}

/** The items that make a channel exist: itself, and its place in its owner's list. */
export const creationWrites = (channel: StoredChannel): Write[] => [
  { Put: { Item: channelItem(channel), ConditionExpression: 'attribute_not_exists(PK)' } },
  { Put: { Item: { ...keys.owned(channel.ownerId, channel.id), v: ITEM_VERSION, channelId: channel.id } } },
];

/**
 * Remembers that a model key is in use, so that scans look under it. Most calls find it known to this environment and
 * cost nothing.
 */
export function createModelKeyRegistry({ db }: StoreContext) {
  const known = new Set<string>();
  return async function register(channel: Pick<Channel, 'model' | 'providerConfigId'>): Promise<void> {
    const modelKey = modelKeyOf(channel);
    if (known.has(modelKey)) return;
    await db.update({
      Key: keys.modelKey(modelKey),
      UpdateExpression: 'SET modelKey = :key, v = :v',
      ExpressionAttributeValues: { ':key': modelKey, ':v': ITEM_VERSION },
    });
    known.add(modelKey);
  };
}

function patchedSettings(settings: ChannelSettings, patch: ChannelPatch['settings']): ChannelSettings {
  const merged = Object.entries({ ...settings, ...patch }).filter(
    ([, value]) => value !== null && value !== undefined,
  );
  return Object.fromEntries(merged) as ChannelSettings;
}

function patched(channel: StoredChannel, patch: ChannelPatch, now: number): StoredChannel {
  const { model, ...rest } = channel;
  const newModel = patch.model === undefined ? model : (patch.model ?? undefined);
  return {
    ...rest,
    ...(newModel === undefined ? {} : { model: newModel }),
    title: patch.title ?? channel.title,
    archived: patch.archived ?? channel.archived,
    settings: patchedSettings(channel.settings, patch.settings),
    updatedAt: new Date(now).toISOString(),
    version: channel.version + 1,
  };
}

export function createChannelStore(context: StoreContext): ChannelStore {
  const { db, clock } = context;
  const register = createModelKeyRegistry(context);

  const cursorsOf = (channelId: string): Promise<Item[]> => db.queryAll(ranges.cursors(channelId));

  /** A cursor with the index attributes that its channel gives it now; refused when it moved meanwhile. */
  function reindexed(channel: StoredChannel, item: Item, indexed: boolean): Write {
    const cursor = toCursor(item);
    const pressure = indexed ? pressureAttributes(channel, cursor.sums) : {};
    return {
      Put: {
        Item: cursorItem(cursor, pressure),
        ConditionExpression: 'leafId = :leaf',
        ExpressionAttributeValues: { ':leaf': cursor.leafId },
      },
    };
  }

  /** Channel and cursors change together, so that the index never holds what the settings forbid. */
  async function rewrite(
    channel: StoredChannel,
    cursors: readonly Item[],
    meta: Write,
    indexed: boolean,
  ): Promise<boolean> {
    const writes = cursors.map((item) => reindexed(channel, item, indexed));
    if (!(await db.transact([meta, ...writes.slice(0, CURSORS_PER_TRANSACTION)]))) return false;
    for (let start = CURSORS_PER_TRANSACTION; start < writes.length; start += CURSORS_PER_TRANSACTION) {
      // A cursor that moved meanwhile was written by an append, which saw the new version of the channel.
      for (const write of writes.slice(start, start + CURSORS_PER_TRANSACTION)) await db.transact([write]);
    }
    return true;
  }

  return {
    async createChannel(channel) {
      const stored = newStoredChannel(context, channel);
      await register(stored);
      await optimistic(async () => ((await db.transact(creationWrites(stored))) ? true : undefined));
      return publicChannel(stored);
    },

    async getChannel(channelId) {
      return publicChannel(liveChannel(await db.get(keys.meta(channelId)), channelId));
    },

    async listChannels(ownerId, { limit, after }) {
      const range = ranges.all(`OWNER#${ownerId}`, 'CH#');
      const ids: string[] = [];
      const to = after === undefined ? range.to : keys.owned(ownerId, after).SK;
      for await (const page of db.pages({ ...range, to }, { reverse: true, limit: limit + 2 })) {
        ids.push(...page.map(({ channelId }) => String(channelId)).filter((id) => id !== after));
        if (ids.length > limit) break;
      }
      const shown = ids.slice(0, limit);
      const items = await db.batchGet(shown.map((id) => keys.meta(id)));
      const channels = items.flatMap((item) =>
        item === undefined || item.deletedAt !== undefined ? [] : [publicChannel(toChannel(item))],
      );
      const last = shown.at(-1);
      return ids.length > limit && last !== undefined ? { channels, next: last } : { channels };
    },

    async updateChannel(channelId, patch) {
      return optimistic(async () => {
        const [meta, cursors] = await Promise.all([db.get(keys.meta(channelId)), cursorsOf(channelId)]);
        const channel = liveChannel(meta, channelId);
        const next = patched(channel, patch, clock());
        await register(next);
        const update: Write = {
          Update: {
            Key: keys.meta(channelId),
            UpdateExpression: `SET title = :title, archived = :archived, settings = :settings, updatedAt = :updated, version = :next ${
              next.model === undefined ? 'REMOVE model' : ', model = :model'
            }`,
            ConditionExpression: 'version = :version AND attribute_not_exists(deletedAt)',
            ExpressionAttributeValues: {
              ':title': next.title,
              ':archived': next.archived,
              ':settings': next.settings,
              ':updated': next.updatedAt,
              ':next': next.version,
              ':version': channel.version,
              ...(next.model === undefined ? {} : { ':model': next.model }),
            },
          },
        };
        return (await rewrite(next, cursors, update, true)) ? publicChannel(next) : undefined;
      });
    },

    async deleteChannel(channelId) {
      await optimistic(async () => {
        const [meta, cursors] = await Promise.all([db.get(keys.meta(channelId)), cursorsOf(channelId)]);
        const channel = liveChannel(meta, channelId);
        const update: Write = {
          Update: {
            Key: keys.meta(channelId),
            UpdateExpression: 'SET deletedAt = :now, version = :next',
            ConditionExpression: 'version = :version AND attribute_not_exists(deletedAt)',
            ExpressionAttributeValues: {
              ':now': new Date(clock()).toISOString(),
              ':next': channel.version + 1,
              ':version': channel.version,
            },
          },
        };
        return (await rewrite(channel, cursors, update, false)) ? true : undefined;
      });
    },
  };
}
