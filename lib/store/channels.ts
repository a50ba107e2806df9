import type { ChannelPatch, ConversationStore, NewChannel } from '../ports.ts';
import { modelKeyOf } from '../settings/budget.ts';
import type { Channel, ChannelSettings } from '../treepath/channel.ts';
import type { StoreContext } from './context.ts';
import { type Item, MAX_OPERATIONS, optimistic, type Write } from './db.ts';
import {
  channelItem,
  ITEM_VERSION,
  publicChannel,
  type StoredChannel,
  type StoredCursor,
  toChannel,
  toCursor,
} from './items.ts';
import { keys, ranges } from './keys.ts';
import { PRESSURE_ATTRIBUTES, pressureAttributes } from './pressure.ts';
import { liveChannel } from './read.ts';

type ChannelStore = Pick<
  ConversationStore,
  'createChannel' | 'getChannel' | 'listChannels' | 'updateChannel' | 'deleteChannel'
>;

/** Cursors written together with their channel; the rest of a transaction's hundred operations. */
const CURSORS_PER_TRANSACTION = MAX_OPERATIONS - 10;

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

  /** Only direct channels are ever indexed. */
  const cursorsOf = async (channel: StoredChannel): Promise<StoredCursor[]> =>
    channel.type === 'direct' ? (await db.queryAll(ranges.cursors(channel.id))).map(toCursor) : [];

  /** Channel and cursors change together, so that the index never holds what the settings forbid. */
  async function rewrite(
    next: StoredChannel,
    cursors: readonly StoredCursor[],
    meta: Write,
  ): Promise<boolean> {
    const [together, later] = [
      cursors.slice(0, CURSORS_PER_TRANSACTION),
      cursors.slice(CURSORS_PER_TRANSACTION),
    ];
    if (!(await db.transact([meta, ...together.map((cursor) => reindex(next, cursor))]))) return false;
    // A cursor that moved meanwhile was written with the channel as it is now.
    for (const cursor of later) await db.transact([reindex(next, cursor)]);
    return true;
  }

  const channelUpdate = (channel: StoredChannel, set: string, values: Item): Write => ({
    Update: {
      Key: keys.meta(channel.id),
      UpdateExpression: `SET version = :next, ${set}`,
      ConditionExpression: 'version = :version AND attribute_not_exists(deletedAt)',
      ExpressionAttributeValues: { ':version': channel.version, ':next': channel.version + 1, ...values },
    },
  });

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
      const to = after === undefined ? range.to : keys.owned(ownerId, after).SK;
      const channels: Channel[] = [];
      for await (const page of db.pages({ ...range, to }, { reverse: true, firstLimit: limit + 2 })) {
        const ids = page.map(({ channelId }) => String(channelId)).filter((id) => id !== after);
        const items = await db.batchGet(ids.map((id) => keys.meta(id)));
        const live = items.filter((item) => item !== undefined && item.deletedAt === undefined);
        channels.push(...live.map((item) => publicChannel(toChannel(item as Item))));
        if (channels.length > limit) break;
      }
      const shown = channels.slice(0, limit);
      const last = shown.at(-1);
      return channels.length > limit && last !== undefined
        ? { channels: shown, next: last.id }
        : { channels };
    },

    updateChannel: (channelId, patch) =>
      optimistic(async () => {
        const channel = liveChannel(await db.get(keys.meta(channelId)), channelId);
        const next = patched(channel, patch, clock());
        await register(next);
        const model = next.model === undefined ? '' : ', model = :model';
        const update = channelUpdate(
          channel,
          `title = :title, archived = :archived, settings = :settings, updatedAt = :updated${model || ' REMOVE model'}`,
          {
            ':title': next.title,
            ':archived': next.archived,
            ':settings': next.settings,
            ':updated': next.updatedAt,
            ...(next.model === undefined ? {} : { ':model': next.model }),
          },
        );
        const cursors = movesInIndex(patch) ? await cursorsOf(channel) : [];
        return (await rewrite(next, cursors, update)) ? publicChannel(next) : undefined;
      }),

    async deleteChannel(channelId) {
      await optimistic(async () => {
        const channel = liveChannel(await db.get(keys.meta(channelId)), channelId);
        const deletedAt = new Date(clock()).toISOString();
        const update = channelUpdate(channel, 'deletedAt = :now', { ':now': deletedAt });
        const done = await rewrite({ ...channel, archived: true }, await cursorsOf(channel), update);
        return done ? true : undefined;
      });
    },
  };
}

/** A new title changes nothing that the pressure index knows. */
const movesInIndex = (patch: ChannelPatch): boolean =>
  patch.archived !== undefined || patch.model !== undefined || patch.settings !== undefined;

/** Sets the index attributes that a cursor has under its channel; refused when it moved meanwhile. */
function reindex(channel: StoredChannel, cursor: StoredCursor): Write {
  const wanted = pressureAttributes(channel, cursor.sums);
  const set = PRESSURE_ATTRIBUTES.filter((name) => wanted[name] !== undefined);
  const remove = PRESSURE_ATTRIBUTES.filter((name) => wanted[name] === undefined);
  const expression = [
    set.length > 0 ? `SET ${set.map((name) => `${name} = :${name}`).join(', ')}` : '',
    remove.length > 0 ? `REMOVE ${remove.join(', ')}` : '',
  ];
  return {
    Update: {
      Key: keys.cursor(cursor.channelId, cursor.userId),
      UpdateExpression: expression.join(' '),
      ConditionExpression: 'leafId = :leaf',
      ExpressionAttributeValues: {
        ':leaf': cursor.leafId,
        ...Object.fromEntries(set.map((name) => [`:${name}`, wanted[name]])),
      },
    },
  };
}
