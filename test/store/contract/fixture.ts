import type { AppendRequest, ImportedMessage, Lease, SummaryDraft, UsageEntry } from '../../../lib/ports.ts';
import type { Channel } from '../../../lib/treepath/channel.ts';
import type { Message, SummaryMessage, Trigger } from '../../../lib/treepath/message.ts';
import type { TestStore } from '../../support/dynamo.ts';

export const OWNER = 'ann';

export const create = (store: TestStore, more: { model?: string } = {}): Promise<Channel> =>
  store.createChannel({ ownerId: OWNER, title: 'a talk', type: 'direct', settings: {}, ...more });

type Options = Partial<Omit<AppendRequest, 'channelId' | 'content'>>;

/** Texts that begin with `a` are answers. */
export const say = (
  store: TestStore,
  channelId: string,
  content: AppendRequest['content'],
  more: Options = {},
) =>
  store.append({
    channelId,
    userId: OWNER,
    role: typeof content === 'string' && content.startsWith('a') ? 'assistant' : 'user',
    content,
    ...more,
  });

/** A conversation of `count` messages, each of `chars` characters. */
export async function talk(store: TestStore, count: number, chars = 10, model?: string): Promise<Channel> {
  const messages = Array.from({ length: count }, (_, n): ImportedMessage => {
    const role = n % 2 === 0 ? 'user' : 'assistant';
    return {
      ref: `r${n}`,
      parentRef: n === 0 ? null : `r${n - 1}`,
      role,
      content: `${n} `.padEnd(chars, 'x'),
    };
  });
  const channel = { ownerId: OWNER, title: 'a talk', type: 'direct' as const, settings: {} };
  return store.importChannel(model === undefined ? channel : { ...channel, model }, messages, null);
}

export const texts = (messages: readonly Message[]) => messages.map(({ content }) => content);

export const usage = (store: TestStore, id: string, channelId: string): UsageEntry => ({
  id,
  at: store.now,
  channelId,
  userId: OWNER,
  role: 'utility',
  model: 'small',
  inputTokens: 10,
  outputTokens: 2,
  metadata: { trigger: 'auto', outcome: 'ok', used_fallback: false },
});

export const audit = (store: TestStore, id: string) => ({
  id,
  at: store.now,
  actor: OWNER,
  action: 'compaction',
  resource: 'channel',
  details: { note: 'x' },
});

/** Everything that `apply` needs for a summary of the first `covered` messages of the context. */
export async function planned(
  store: TestStore,
  channelId: string,
  covered: number,
  { trigger = 'auto' as Trigger, userId = OWNER, owner = 'run' } = {},
) {
  const lease = (await store.acquireLease(channelId, owner, { now: store.now, leaseMs: 180_000 })) as Lease;
  const { cursor, messages, pinned, summary } = await store.readContext(channelId, userId);
  const [first, last] = [messages[0], messages[covered - 1]];
  if (first === undefined || last === undefined || cursor.leafId === null)
    throw new Error('too few messages');
  const draft: SummaryDraft = {
    content: `summary of ${covered}`,
    tokens: 7,
    chars: 12,
    metadata: {
      type: 'summary',
      trigger,
      strategy: 'summary',
      coversFrom: first.id,
      coversUntil: last.id,
      summarizedCount: covered,
      tokensBefore: cursor.sums.tokens,
      model: 'small',
      usedFallback: false,
      profile: 'channel',
      promptVersion: '1',
      ...(summary === undefined ? {} : { previousSummaryId: summary.id }),
    },
  };
  return {
    lease,
    userId,
    plannedLeafId: cursor.leafId,
    pinned,
    draft,
    usage: [usage(store, `use-${channelId}-${lease.fence}`, channelId)],
    audit: audit(store, `audit-${channelId}-${lease.fence}`),
    now: store.now,
  };
}

export async function compacted(
  store: TestStore,
  channelId: string,
  covered: number,
): Promise<SummaryMessage> {
  const result = await store.apply(await planned(store, channelId, covered));
  if (result.outcome !== 'applied') throw new Error(result.outcome);
  return result.summary;
}
