/** Every key of the table; nothing else builds one. */
export type Key = { readonly PK: string; readonly SK: string };

/** The last code point there is: sorts after every suffix of a prefix. */
const LAST = '\u{10ffff}';

const channelPartition = (channelId: string): string => `CH#${channelId}`;

export const keys = {
  meta: (channelId: string): Key => ({ PK: channelPartition(channelId), SK: 'META' }),
  cursor: (channelId: string, userId: string): Key => ({
    PK: channelPartition(channelId),
    SK: `CUR#${userId}`,
  }),
  message: (channelId: string, messageId: string): Key => ({
    PK: channelPartition(channelId),
    SK: `MSG#${messageId}`,
  }),
  messagePart: (channelId: string, messageId: string, part: number): Key => ({
    PK: channelPartition(channelId),
    SK: `MSG#${messageId}#P${part}`,
  }),
  branch: (channelId: string, branch: string): Key => ({
    PK: channelPartition(channelId),
    SK: `BR#${branch}`,
  }),
  /** Every user has keys of their own; the encoding keeps a `#` in a user's id from reaching into another's. */
  idempotency: (channelId: string, userId: string, key: string): Key => ({
    PK: channelPartition(channelId),
    SK: `IDEM#${encodeURIComponent(userId.toWellFormed())}#${key}`,
  }),
  job: (channelId: string, jobId: string): Key => ({ PK: channelPartition(channelId), SK: `JOB#${jobId}` }),
  owned: (ownerId: string, channelId: string): Key => ({ PK: `OWNER#${ownerId}`, SK: `CH#${channelId}` }),
  setting: (key: string): Key => ({ PK: 'SETTINGS', SK: `KEY#${key}` }),
  model: (modelKey: string): Key => ({ PK: 'CATALOG', SK: `MODEL#${modelKey}` }),
  modelKey: (modelKey: string): Key => ({ PK: 'MODELKEYS', SK: `KEY#${modelKey}` }),
  rate: (hour: string): Key => ({ PK: `RATE#${hour}`, SK: 'COUNT' }),
  usage: (day: string, at: string, id: string): Key => ({ PK: `USAGE#${day}`, SK: `AT#${at}#${id}` }),
  audit: (month: string, at: string, id: string): Key => ({ PK: `AUDIT#${month}`, SK: `AT#${at}#${id}` }),
  scanner: (): Key => ({ PK: 'SCANNER', SK: 'STATE' }),
};

/** A message by an id that came from outside: what holds a `#` would name a part of a message, and is no id. */
export const askedMessage = (channelId: string, messageId: string): Key | undefined =>
  messageId.includes('#') ? undefined : keys.message(channelId, messageId);

const MAX_PK_BYTES = 2_048;
const MAX_SK_BYTES = 1_024;

/** Whether the engine can hold such a key; one that it cannot hold names nothing. */
export const isPossible = ({ PK, SK }: Key): boolean =>
  Buffer.byteLength(PK) <= MAX_PK_BYTES &&
  Buffer.byteLength(SK) <= MAX_SK_BYTES &&
  PK.isWellFormed() &&
  SK.isWellFormed();

/** Name of the branch that starts at a message: a root, or a further child of its parent. */
export const branchName = (parentId: string | null, startId: string): string =>
  `${parentId ?? ''}#${startId}`;

/** Ranges for queries; bounds are inclusive. */
export const ranges = {
  /** Messages after `afterId` (exclusive; from the first when absent) up to `untilId` (the newest when absent), with parts. */
  messages: (channelId: string, afterId?: string, untilId = '') => ({
    PK: channelPartition(channelId),
    // The parts of `afterId` itself sort below the first ULID that could follow it.
    from: afterId === undefined ? 'MSG#' : `MSG#${afterId}${LAST}`,
    to: `MSG#${untilId}${LAST}`,
  }),
  branches: (channelId: string) => ({ PK: channelPartition(channelId), from: 'BR#', to: `BR#${LAST}` }),
  branchesAt: (channelId: string, parentId: string | null) => ({
    PK: channelPartition(channelId),
    from: `BR#${branchName(parentId, '')}`,
    to: `BR#${branchName(parentId, LAST)}`,
  }),
  cursors: (channelId: string) => ({ PK: channelPartition(channelId), from: 'CUR#', to: `CUR#${LAST}` }),
  all: (PK: string, prefix: string) => ({ PK, from: prefix, to: `${prefix}${LAST}` }),
};

const SHARDS = 4;
export type Half = 'default' | 'overridden';

/** Spreads the cursors of one model over a few index partitions; the same channel always lands in the same one. */
function shardOf(channelId: string): number {
  let hash = 0;
  for (let i = 0; i < channelId.length; i += 1) hash = (hash * 31 + channelId.charCodeAt(i)) >>> 0;
  return hash % SHARDS;
}

const indexPartition = (modelKey: string, half: Half, shard: number): string =>
  `${modelKey}#${half === 'default' ? 'D' : 'O'}#${shard}`;

export const pressurePartition = (modelKey: string, half: Half, channelId: string): string =>
  indexPartition(modelKey, half, shardOf(channelId));

export const pressurePartitions = (modelKey: string, half: Half): string[] =>
  Array.from({ length: SHARDS }, (_, shard) => indexPartition(modelKey, half, shard));
