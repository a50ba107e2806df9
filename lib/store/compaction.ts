import { NotFoundError } from '../errors.ts';
import type { ApplyRequest, ApplyResult, CompactionStore, Lease, LeaseEnd, UsageEntry } from '../ports.ts';
import { updateCursor } from '../treepath/cursor.ts';
import type { SummaryMessage } from '../treepath/message.ts';
import { getPathToLeaf } from '../treepath/path.ts';
import { isSummaryMessage } from '../treepath/summary.ts';
import { summarySums } from '../treepath/sums.ts';
import { cursorWrite } from './append.ts';
import { messageItems } from './content.ts';
import type { StoreContext } from './context.ts';
import { optimistic, type Write } from './db.ts';
import { publicMessage, type StoredChannel, type StoredMessage } from './items.ts';
import { keys } from './keys.ts';
import { auditWrite, usageWrite } from './ledger.ts';
import { createReader, liveChannel } from './read.ts';

/** Held by this owner, under this fencing token, on a channel that is still there. */
const LEASE_HELD = 'leaseOwner = :owner AND fence = :fence';
const leaseValues = ({ owner, fence }: Lease) => ({ ':owner': owner, ':fence': fence });

export function createCompactionStore(context: StoreContext): CompactionStore {
  const { db, newId } = context;
  const reader = createReader(context);

  /**
   * The path below `coversUntil` to the cursor's leaf, or `undefined` when the cursor is no longer at or below the leaf
   * that was planned for. The summary goes below its last message; all of it stays in the context.
   */
  function landing(
    after: readonly StoredMessage[],
    leafId: string | null,
    request: ApplyRequest,
  ): StoredMessage[] | undefined {
    const { coversUntil } = request.draft.metadata;
    if (leafId === null || leafId === coversUntil) return leafId === request.plannedLeafId ? [] : undefined;
    const path = getPathToLeaf(after, leafId);
    if (path[0]?.parentId !== coversUntil || path.some(isSummaryMessage)) return undefined;
    const planned =
      request.plannedLeafId === coversUntil || path.some(({ id }) => id === request.plannedLeafId);
    return planned ? path : undefined;
  }

  function summaryOf(
    request: ApplyRequest,
    parent: StoredMessage,
    tail: readonly StoredMessage[],
    childIndex: number,
  ): StoredMessage {
    const { draft } = request;
    const id = newId(parent.id);
    const sums = summarySums(
      { id, tokens: draft.tokens, chars: draft.chars },
      draft.metadata.coversUntil,
      request.pinned,
      tail,
    );
    return {
      id,
      channelId: parent.channelId,
      parentId: parent.id,
      siblingIndex: childIndex,
      depth: parent.depth + 1,
      role: 'assistant',
      content: draft.content,
      metadata: { ...draft.metadata, tokensAfter: sums.tokens },
      tokens: draft.tokens,
      chars: draft.chars,
      sums,
      createdAt: new Date(request.now).toISOString(),
      childCount: 0,
    };
  }

  async function stale(request: ApplyRequest): Promise<ApplyResult> {
    await endLease(request.lease, { kind: 'released' }, request.usage);
    return { outcome: 'stale' };
  }

  /** Whether the lease is still ours; a lost one leaves only its usage behind. */
  function leaseIsOurs({ compaction }: StoredChannel, { lease }: ApplyRequest): boolean {
    return compaction.lease?.owner === lease.owner && compaction.fence === lease.fence;
  }

  async function endLease(lease: Lease, end: LeaseEnd, usage: readonly UsageEntry[]): Promise<void> {
    const sets: Record<string, number> =
      end.kind === 'failed'
        ? { failures: end.failures, retryAfter: end.retryAfter }
        : end.kind === 'no_progress'
          ? { noProgressAt: end.atTokens }
          : {};
    const set = Object.keys(sets).map((name) => `${name} = :${name}`);
    const values = Object.fromEntries(Object.entries(sets).map(([name, value]) => [`:${name}`, value]));
    const update: Write = {
      Update: {
        Key: keys.meta(lease.channelId),
        UpdateExpression: `${set.length > 0 ? `SET ${set.join(', ')} ` : ''}REMOVE leaseOwner, leaseUntil, claimedUntil`,
        ConditionExpression: LEASE_HELD,
        ExpressionAttributeValues: { ...leaseValues(lease), ...values },
      },
    };
    if (await db.transact([update, ...usage.map(usageWrite)])) return;
    // The lease went to someone else meanwhile; the calls were made all the same (invariant 6).
    if (usage.length > 0)
      await optimistic(async () => ((await db.transact(usage.map(usageWrite))) ? true : undefined));
  }

  function metaWrite({ lease, draft, now }: ApplyRequest, channel: StoredChannel): Write {
    const auto = draft.metadata.trigger === 'auto';
    return {
      Update: {
        Key: keys.meta(lease.channelId),
        UpdateExpression: `${auto ? 'SET lastAutoAt = :now ' : ''}REMOVE leaseOwner, leaseUntil, claimedUntil, failures, retryAfter, noProgressAt`,
        ConditionExpression: `${LEASE_HELD} AND version = :version AND attribute_not_exists(deletedAt)`,
        ExpressionAttributeValues: {
          ...leaseValues(lease),
          ':version': channel.version,
          ...(auto ? { ':now': now } : {}),
        },
      },
    };
  }

  return {
    async acquireLease(channelId, owner, { now, leaseMs, takeOver }) {
      const free = 'attribute_not_exists(leaseUntil) OR leaseUntil <= :now';
      const item = await db.updated({
        Key: keys.meta(channelId),
        UpdateExpression:
          'SET fence = if_not_exists(fence, :zero) + :one, leaseOwner = :owner, leaseUntil = :until',
        ConditionExpression: `attribute_exists(PK) AND attribute_not_exists(deletedAt) AND (${free}${takeOver === true ? ' OR leaseOwner = :owner' : ''})`,
        ExpressionAttributeValues: {
          ':zero': 0,
          ':one': 1,
          ':owner': owner,
          ':until': now + leaseMs,
          ':now': now,
        },
      });
      if (item === undefined) {
        liveChannel(await db.get(keys.meta(channelId)), channelId);
        return undefined;
      }
      return { channelId, owner, fence: Number(item.fence) };
    },

    endLease,

    apply: (request) =>
      optimistic(async (): Promise<ApplyResult | undefined> => {
        const { lease, userId, draft } = request;
        const [{ channel, cursor }, after] = await Promise.all([
          readOrGone(() => reader.channelAndCursor(lease.channelId, userId)),
          reader.range(lease.channelId, draft.metadata.coversUntil),
        ]);
        if (channel === undefined || cursor === undefined) return stale(request);
        if (!leaseIsOurs(channel, request)) {
          await endLease(lease, { kind: 'released' }, request.usage);
          return { outcome: 'lease_lost' };
        }
        const optedOut = draft.metadata.trigger === 'auto' && channel.settings.auto_compaction === false;
        if (optedOut || channel.archived) return stale(request);

        const tail = landing(after, cursor.leafId, request);
        if (tail === undefined) return stale(request);
        const parent = tail.at(-1) ?? (await reader.message(lease.channelId, draft.metadata.coversUntil));

        const summary = summaryOf(request, parent, tail, parent.childCount);
        const next = { ...updateCursor(cursor, summary, cursor.activeAt), leafChildren: 0 };
        const written = await db.transact([
          metaWrite(request, channel),
          ...messageItems(summary).map((Item) => ({
            Put: { Item, ConditionExpression: 'attribute_not_exists(PK)' },
          })),
          parentWrite(parent, summary.id),
          cursorWrite(channel, next, cursor.leafId),
          ...request.usage.map(usageWrite),
          auditWrite(request.audit),
        ]);
        return written
          ? { outcome: 'applied', summary: publicMessage(summary) as SummaryMessage }
          : undefined;
      }),
  };
}

/** A channel that was deleted while the model worked makes the result stale, not an error. */
async function readOrGone<T>(read: () => Promise<T>): Promise<T | { channel?: never; cursor?: never }> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof NotFoundError) return {};
    throw error;
  }
}

const parentWrite = (parent: StoredMessage, summaryId: string): Write => ({
  Update: {
    Key: keys.message(parent.channelId, parent.id),
    UpdateExpression: 'SET childCount = :next, summaryChildId = :summary',
    ConditionExpression: 'childCount = :count',
    ExpressionAttributeValues: {
      ':count': parent.childCount,
      ':next': parent.childCount + 1,
      ':summary': summaryId,
    },
  },
});
