import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { Candidate, ClaimResult, PressureQuery, PressureStore, SkipReason } from '../ports.ts';
import { modelKeyOf } from '../settings/budget.ts';
import { PRESSURE_MIN_CHARS, PRESSURE_MIN_MESSAGES } from '../settings/defaults.ts';
import type { Channel } from '../treepath/channel.ts';
import type { ContextSums } from '../treepath/message.ts';
import type { StoreContext } from './context.ts';
import { type Item, optimistic } from './db.ts';
import { publicChannel, toChannel } from './items.ts';
import { keys, pressurePartition, pressurePartitions, ranges } from './keys.ts';
import { MAX_SORT_NUMBER } from './storable.ts';

/** A18, design 4: could this cursor ever need an automatic compaction? */
const belongs = (channel: Channel, sums: ContextSums): boolean =>
  channel.type === 'direct' &&
  !channel.archived &&
  channel.settings.auto_compaction !== false &&
  sums.messages >= PRESSURE_MIN_MESSAGES &&
  sums.chars > PRESSURE_MIN_CHARS;

export const PRESSURE_ATTRIBUTES = ['modelKey', 'threshold', 'pressurePk', 'pressureSk'] as const;

/** The index attributes of a cursor; none when it does not belong in the sparse index. */
export function pressureAttributes(channel: Channel, sums: ContextSums): Item {
  if (!belongs(channel, sums)) return {};
  const modelKey = modelKeyOf(channel);
  const threshold = channel.settings.compaction_threshold;
  if (threshold === undefined) {
    return {
      modelKey,
      pressurePk: pressurePartition(modelKey, 'default', channel.id),
      pressureSk: Math.min(sums.tokens, MAX_SORT_NUMBER),
    };
  }
  return {
    modelKey,
    threshold,
    pressurePk: pressurePartition(modelKey, 'overridden', channel.id),
    pressureSk: Math.min(sums.tokens / threshold, MAX_SORT_NUMBER),
  };
}

const toCandidate = (item: Item): Candidate => ({
  channelId: String(item.channelId),
  userId: String(item.userId),
  tokens: Number(item.tokens),
  messages: Number(item.messages),
  activeAt: Number(item.activeAt),
  modelKey: String(item.modelKey),
  ...(item.threshold === undefined ? {} : { threshold: Number(item.threshold) }),
});

const CLAIMABLE = [
  'attribute_exists(PK)',
  'attribute_not_exists(deletedAt)',
  'archived = :false',
  '(attribute_not_exists(settings.auto_compaction) OR settings.auto_compaction = :true)',
  '(attribute_not_exists(leaseUntil) OR leaseUntil <= :now)',
  '(attribute_not_exists(claimedUntil) OR claimedUntil <= :now)',
  '(attribute_not_exists(lastAutoAt) OR lastAutoAt <= :cooled)',
  '(attribute_not_exists(retryAfter) OR retryAfter <= :now)',
  '(attribute_not_exists(noProgressAt) OR noProgressAt < :tokens)',
].join(' AND ');

type ClaimOptions = Parameters<PressureStore['claim']>[1];

/**
 * Which part of the claim's condition failed, in the order in which a person would want to know; `undefined` when what
 * was in the way is gone by now.
 */
function refusal(item: Item | undefined, { tokens, now, cooldownMs }: ClaimOptions): ClaimResult | undefined {
  const no = (reason: SkipReason, until?: number): ClaimResult => ({
    claimed: false,
    reason,
    ...(until === undefined ? {} : { remainingMs: Math.max(0, until - now) }),
  });
  if (item === undefined || item.deletedAt !== undefined) return no('deleted');
  const { archived, settings, compaction } = toChannel(item);
  if (archived) return no('archived');
  if (settings.auto_compaction === false) return no('opted_out');
  if (compaction.lease && compaction.lease.expiresAt > now)
    return no('in_flight', compaction.lease.expiresAt);
  if (compaction.claimedUntil !== undefined && compaction.claimedUntil > now)
    return no('queued', compaction.claimedUntil);
  const cooled = (compaction.lastAutoAt ?? Number.NEGATIVE_INFINITY) + cooldownMs;
  if (cooled > now) return no('cooldown', cooled);
  if (compaction.retryAfter !== undefined && compaction.retryAfter > now)
    return no('backing_off', compaction.retryAfter);
  if (compaction.noProgressAt !== undefined && compaction.noProgressAt >= tokens) return no('no_progress');
  return undefined;
}

export function createPressureStore({ db, indexName }: StoreContext): PressureStore {
  async function queryShard(partition: string, { minTokens, limit }: PressureQuery): Promise<Candidate[]> {
    const { Items = [] } = await db.client.send(
      new QueryCommand({
        TableName: db.tableName,
        IndexName: indexName,
        KeyConditionExpression: 'pressurePk = :pk AND pressureSk >= :bound',
        ExpressionAttributeValues: { ':pk': partition, ':bound': minTokens },
        ScanIndexForward: false,
        Limit: limit,
      }),
    );
    return Items.map(toCandidate);
  }

  return {
    async listModelKeys() {
      const items = await db.queryAll(ranges.all('MODELKEYS', 'KEY#'));
      return items.map(({ modelKey }) => String(modelKey));
    },

    async findPressed(query) {
      const shards = await Promise.all(
        pressurePartitions(query.modelKey, query.half).map((partition) => queryShard(partition, query)),
      );
      const pressure = ({ tokens, threshold }: Candidate): number => tokens / (threshold ?? 1);
      return shards
        .flat()
        .sort((a, b) => pressure(b) - pressure(a))
        .slice(0, query.limit);
    },

    claim: (channelId, options) =>
      optimistic(async (): Promise<ClaimResult | undefined> => {
        const item = await db.updated({
          Key: keys.meta(channelId),
          UpdateExpression: 'SET claimedUntil = :until',
          ConditionExpression: CLAIMABLE,
          ExpressionAttributeValues: {
            ':until': options.now + options.claimMs,
            ':now': options.now,
            ':cooled': options.now - options.cooldownMs,
            ':tokens': options.tokens,
            ':true': true,
            ':false': false,
          },
        });
        if (item === undefined) return refusal(await db.get(keys.meta(channelId)), options);
        return { claimed: true, channel: publicChannel(toChannel(item)) };
      }),

    async releaseClaim(channelId) {
      await db.update({
        Key: keys.meta(channelId),
        UpdateExpression: 'REMOVE claimedUntil',
        ConditionExpression: 'attribute_exists(PK)',
      });
    },
  };
}
