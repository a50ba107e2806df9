import type { ApplyRequest, ApplyResult, CompactionStore, Lease, LeaseEnd, UsageEntry } from '../ports.ts';
import type { SummaryMessage } from '../treepath/message.ts';
import { getPathToLeaf } from '../treepath/path.ts';
import { isSummaryMessage } from '../treepath/summary.ts';
import { summarySums } from '../treepath/sums.ts';
import type { StoreContext } from './context.ts';
import { optimistic, type Write } from './db.ts';
import {
  cursorOn,
  publicMessage,
  type StoredChannel,
  type StoredCursor,
  type StoredMessage,
  type TreeNode,
  toChannel,
  toNode,
} from './items.ts';
import { keys } from './keys.ts';
import { auditWrite, usageItem, usageWrite } from './ledger.ts';
import { createReader, cursorOf, liveChannel } from './read.ts';
import { cursorWrite, insertWrites, placeBelow } from './tree-writes.ts';

/** The rest of a transaction's hundred operations; a summary may take a few for its parts. */
const USAGE_PER_TRANSACTION = 80;

/** Held by this owner, under this fencing token, on a channel that is still there. */
const LEASE_HELD = 'leaseOwner = :owner AND fence = :fence';
const leaseValues = ({ owner, fence }: Lease) => ({ ':owner': owner, ':fence': fence });

export function createCompactionStore(context: StoreContext): CompactionStore {
  const { db, newId } = context;
  const reader = createReader(context);

  /**
   * The path below `coversUntil` to the cursor's leaf; the new summary goes below its last message, and all of it stays
   * in the context, save older summaries. `stale` when the plan is no longer right: the cursor is not at or below the
   * leaf that was planned for, or another summary came first. `undefined` when the messages were read before the cursor
   * and one that came in between is missing: read again, or a summary that was paid for would be thrown away.
   */
  function landing(
    after: readonly StoredMessage[],
    cursor: StoredCursor,
    request: ApplyRequest,
  ): readonly StoredMessage[] | 'stale' | undefined {
    const { coversUntil, previousSummaryId } = request.draft.metadata;
    if (cursor.leafId === null || cursor.sums.boundaryId !== previousSummaryId) return 'stale';
    const path = getPathToLeaf(after, cursor.leafId);
    const top = path[0];
    const above = top === undefined ? cursor.leafId : top.parentId;
    if (above !== coversUntil) return above !== null && above > coversUntil ? undefined : 'stale';
    const planned =
      request.plannedLeafId === coversUntil || path.some(({ id }) => id === request.plannedLeafId);
    return planned ? path : 'stale';
  }

  function summaryOf(request: ApplyRequest, parent: TreeNode, path: readonly StoredMessage[]): StoredMessage {
    const { draft } = request;
    const id = newId(parent.id);
    const sums = summarySums(
      { id, tokens: draft.tokens, chars: draft.chars },
      draft.metadata.coversUntil,
      request.pinned,
      path.filter((message) => !isSummaryMessage(message)),
    );
    return {
      id,
      ...placeBelow(parent, id),
      channelId: parent.channelId,
      role: 'assistant',
      content: draft.content,
      metadata: { ...draft.metadata, tokensAfter: sums.tokens },
      tokens: draft.tokens,
      chars: draft.chars,
      sums,
      createdAt: new Date(request.now).toISOString(),
    };
  }

  async function stale(request: ApplyRequest): Promise<ApplyResult> {
    await endLease(request.lease, { kind: 'released' }, request.usage);
    return { outcome: 'stale' };
  }

  /** Whether the lease is still ours; a lost one leaves only its usage behind. */
  function leaseIsOurs({ compaction }: StoredChannel, lease: Lease): boolean {
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
    await recordAhead(usage);
    const entries = usage.slice(0, USAGE_PER_TRANSACTION).map(usageWrite);
    await optimistic(async (): Promise<true | undefined> => {
      if (await db.transact([update, ...entries])) return true;
      const meta = await db.get(keys.meta(lease.channelId));
      if (meta !== undefined && leaseIsOurs(toChannel(meta), lease)) return undefined;
      // The lease went to someone else meanwhile; the calls were made all the same (invariant 6).
      return entries.length === 0 || (await db.transact(entries)) ? true : undefined;
    });
  }

  /** A compaction in very many parts has more entries than a transaction takes; a call counts whatever becomes of it. */
  async function recordAhead(usage: readonly UsageEntry[]): Promise<void> {
    await db.batchPut(usage.slice(USAGE_PER_TRANSACTION).map(usageItem));
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
      if (item !== undefined) return { channelId, owner, fence: Number(item.fence) };
      const { compaction } = liveChannel(await db.get(keys.meta(channelId)), channelId);
      // The answer to our own write was lost and the client sent it again: the lease is ours all the same.
      const ours = compaction.lease?.owner === owner && compaction.lease.expiresAt === now + leaseMs;
      return ours ? { channelId, owner, fence: compaction.fence } : undefined;
    },

    endLease,

    apply: async (request) => {
      await recordAhead(request.usage);
      return optimistic(async (): Promise<ApplyResult | undefined> => {
        const { lease, userId, draft } = request;
        const [[meta, cursorRead, planned], after] = await Promise.all([
          db.batchGet([
            keys.meta(lease.channelId),
            keys.cursor(lease.channelId, userId),
            keys.message(lease.channelId, request.plannedLeafId),
          ]),
          reader.range(lease.channelId, draft.metadata.coversUntil),
        ]);
        // A channel that was deleted while the model worked makes the result stale, not an error.
        if (meta === undefined || meta.deletedAt !== undefined) return stale(request);
        const channel = toChannel(meta);
        const cursor = cursorOf(cursorRead, lease.channelId, userId);
        if (!leaseIsOurs(channel, lease)) {
          await endLease(lease, { kind: 'released' }, request.usage);
          return { outcome: 'lease_lost' };
        }
        const optedOut = draft.metadata.trigger === 'auto' && channel.settings.auto_compaction === false;
        if (optedOut || channel.archived) return stale(request);

        const path = landing(after, cursor, request);
        if (path === undefined) return undefined;
        const parent = path === 'stale' ? undefined : (path.at(-1) ?? (planned && toNode(planned)));
        if (path === 'stale' || parent === undefined) return stale(request);

        const summary = summaryOf(request, parent, path);
        const written = await db.transact([
          metaWrite(request, channel),
          ...insertWrites(parent, summary, true),
          cursorWrite(channel, cursorOn(cursor, summary, cursor.activeAt), cursor.leafId),
          ...request.usage.slice(0, USAGE_PER_TRANSACTION).map(usageWrite),
          auditWrite(request.audit),
        ]);
        return written
          ? { outcome: 'applied', summary: publicMessage(summary) as SummaryMessage }
          : undefined;
      });
    },
  };
}
