import assert from 'node:assert/strict';
import { type DynamoDBDocumentClient, QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { ContextSums, Message } from '../../../lib/treepath/message.ts';
import { recomputeSums } from '../../../lib/treepath/sums.ts';
import type { ModelNode, ModelState } from './state.ts';

type Item = Record<string, unknown>;

/** Everything the table holds of one channel, read past the store. */
export type Dump = {
  readonly meta: Item;
  readonly messages: ReadonlyMap<string, Item>;
  readonly cursors: readonly Item[];
  readonly branches: readonly Item[];
  readonly idempotency: readonly Item[];
  readonly usage: readonly Item[];
  readonly audit: readonly Item[];
};

async function all(client: DynamoDBDocumentClient, table: string, pk: string): Promise<Item[]> {
  const { Items = [] } = await client.send(
    new QueryCommand({
      TableName: table,
      KeyConditionExpression: 'PK = :pk',
      ExpressionAttributeValues: { ':pk': pk },
      ConsistentRead: true,
    }),
  );
  return Items;
}

export async function dumpOf(
  client: DynamoDBDocumentClient,
  table: string,
  channelId: string,
  day: string,
): Promise<Dump> {
  const [items, usage, audit] = await Promise.all([
    all(client, table, `CH#${channelId}`),
    all(client, table, `USAGE#${day}`),
    all(client, table, `AUDIT#${day.slice(0, 7)}`),
  ]);
  const of = (prefix: string): Item[] => items.filter(({ SK }) => String(SK).startsWith(prefix));
  return {
    meta: of('META')[0] ?? {},
    messages: new Map(of('MSG#').map((item) => [String(item.id), item])),
    cursors: of('CUR#'),
    branches: of('BR#'),
    idempotency: of('IDEM#'),
    usage,
    audit,
  };
}

export const labelOf = (item: Item): string => JSON.parse(String(item.content)) as string;

/** The table in the words of the model, save what callers sent with an idempotency key, which is stored as a hash. */
export function stateOf(dump: Dump): Omit<ModelState, 'idempotent'> & { idempotent: Record<string, string> } {
  const label = (id: unknown): string => labelOf(dump.messages.get(String(id)) ?? { content: '"?"' });
  const optional = (name: string, value: unknown) => (value === undefined ? {} : { [name]: value });
  const { meta } = dump;
  const settings = meta.settings as Item;
  const lease =
    meta.leaseOwner === undefined
      ? {}
      : { lease: { owner: String(meta.leaseOwner), until: Number(meta.leaseUntil) } };
  const node = (item: Item): ModelNode => {
    const metadata = JSON.parse(String(item.metadata)) as Item;
    return {
      parent: item.parentId === null ? null : label(item.parentId),
      index: Number(item.siblingIndex),
      role: item.role as ModelNode['role'],
      ...optional('reported', item.reportedTokens),
      ...(metadata.type === 'summary'
        ? {
            summary: {
              from: label(metadata.coversFrom),
              until: label(metadata.coversUntil),
              ...optional('previous', metadata.previousSummaryId && label(metadata.previousSummaryId)),
            },
          }
        : {}),
      ...optional('follow', item.summaryChildId && label(item.summaryChildId)),
      ...(item.undoneSummaryId === undefined
        ? {}
        : { undone: { summary: label(item.undoneSummaryId), leaf: label(item.undoneLeafId) } }),
    };
  };
  return {
    nodes: Object.fromEntries([...dump.messages.values()].map((item) => [labelOf(item), node(item)])),
    cursors: Object.fromEntries(dump.cursors.map(({ userId, leafId }) => [String(userId), label(leafId)])),
    deleted: meta.deletedAt !== undefined,
    archived: meta.archived === true,
    title: String(meta.title),
    model: String(meta.model),
    ...optional('auto', settings.auto_compaction),
    ...optional('threshold', settings.compaction_threshold),
    fence: Number(meta.fence),
    ...lease,
    ...Object.fromEntries(
      ['claimedUntil', 'lastAutoAt', 'failures', 'retryAfter', 'noProgressAt'].flatMap((name) =>
        meta[name] === undefined ? [] : [[name, meta[name]]],
      ),
    ),
    idempotent: Object.fromEntries(
      dump.idempotency.map(({ SK, messageId }) => [
        String(SK).split('#').slice(1).join('/'),
        label(messageId),
      ]),
    ),
    usage: dump.usage.map(({ entry }) => String((entry as Item).id)).sort(),
    audit: dump.audit.map(({ entry }) => String((entry as Item).id)).sort(),
  };
}

function pathOf(dump: Dump, leaf: Item): Message[] {
  const path: Message[] = [];
  for (let item: Item | undefined = leaf; item; item = dump.messages.get(String(item.parentId))) {
    path.unshift({ ...item, metadata: JSON.parse(String(item.metadata)) } as unknown as Message);
  }
  return path;
}

/** Design 3 and 4: what must hold of any channel at any moment, whatever happened before. */
export function assertSound(dump: Dump): void {
  const children = new Map<string, Item[]>();
  for (const item of dump.messages.values()) {
    const parent = String(item.parentId);
    children.set(parent, [...(children.get(parent) ?? []), item]);
  }
  for (const item of dump.messages.values()) assertMessage(dump, item, children.get(String(item.id)) ?? []);
  const roots = children.get('null') ?? [];
  assert.equal(dump.meta.rootCount, roots.length, 'roots are counted');
  assert.deepEqual(
    indexes(roots),
    roots.map((_, index) => index),
    'roots have indexes without gaps',
  );
  assertBranches(dump, children);
  for (const cursor of dump.cursors) assertCursor(dump, cursor);
}

const indexes = (items: readonly Item[]): number[] =>
  items.map((item) => Number(item.siblingIndex)).sort((a, b) => a - b);

function assertMessage(dump: Dump, item: Item, below: readonly Item[]): void {
  assert.equal(item.childCount, below.length, 'children are counted');
  assert.deepEqual(
    indexes(below),
    below.map((_, index) => index),
    'siblings have indexes without gaps',
  );
  assert.equal(item.firstChildId, below.find(({ siblingIndex }) => siblingIndex === 0)?.id);
  const path = pathOf(dump, item);
  assert.equal(item.depth, path.length - 1);
  assert.ok(
    path.every(({ id }, index) => index === 0 || id > (path[index - 1]?.id ?? '')),
    'a child sorts after its parent',
  );
  assert.deepEqual(item.sums, recomputeSums(path), 'sums equal a recomputation');
}

function assertBranches(dump: Dump, children: ReadonlyMap<string, readonly Item[]>): void {
  const starts = [...dump.messages.values()].filter(
    ({ parentId, siblingIndex }) => parentId === null || siblingIndex !== 0,
  );
  assert.deepEqual(dump.branches.map(({ startId }) => startId).sort(), starts.map(({ id }) => id).sort());
  for (const branch of dump.branches) {
    let leaf = dump.messages.get(String(branch.startId));
    for (
      let first = leaf;
      first;
      first = children.get(String(first.id))?.find(({ siblingIndex }) => siblingIndex === 0)
    ) {
      assert.equal(first.branch, branch.name);
      leaf = first;
    }
    assert.equal(branch.leafId, leaf?.id, 'a branch knows its leaf');
    const parent = dump.messages.get(String(branch.parentId));
    assert.deepEqual([branch.parentBranch, branch.parentDepth], [parent?.branch, parent?.depth ?? -1]);
  }
}

function assertCursor(dump: Dump, cursor: Item): void {
  const leaf = dump.messages.get(String(cursor.leafId));
  assert.ok(leaf, 'a cursor stands on a message');
  assert.deepEqual([cursor.leafDepth, cursor.leafBranch, cursor.sums], [leaf.depth, leaf.branch, leaf.sums]);
  assert.deepEqual(
    indexed(cursor),
    shouldBeIndexed(dump.meta, leaf.sums as ContextSums),
    'the index holds exactly these',
  );
}

const indexed = ({ pressurePk, pressureSk, threshold }: Item) => ({
  partition: pressurePk === undefined ? undefined : String(pressurePk).replace(/#\d$/u, ''),
  pressureSk,
  threshold,
});

function shouldBeIndexed(meta: Item, sums: ContextSums) {
  const { auto_compaction, compaction_threshold: threshold } = meta.settings as Item;
  const belongs =
    meta.deletedAt === undefined &&
    meta.archived !== true &&
    auto_compaction !== false &&
    sums.messages >= 10 &&
    sums.chars > 20_000;
  if (!belongs) return { partition: undefined, pressureSk: undefined, threshold: undefined };
  return threshold === undefined
    ? { partition: `${String(meta.model)}#D`, pressureSk: sums.tokens, threshold }
    : { partition: `${String(meta.model)}#O`, pressureSk: sums.tokens / Number(threshold), threshold };
}
