import type { EmbeddedAws } from '../aws/index.ts';
import type { ImportedConversation } from '../importers/index.ts';
import { ApiError, anyReply, contextReply, createApi, pressureReply } from './api-client.ts';
import { summarizeByHand } from './by-hand.ts';
import { importConversation } from './conversations.ts';
import { type DemoChannel, leftAlone, newChannel, noteSummary } from './demo-channel.ts';
import { type Sight, untilSettled } from './settle.ts';

export type DemoRun = {
  /** Context window of the conversations' model in tokens. */
  readonly window: number;
  readonly progress: (line: string) => void;
  /** How many scans have run so far. */
  readonly scans: () => number;
};

const MODEL = 'demo';
const HOUR_MS = 3_600_000;
/** Nobody compacts for this long: automatic compaction has done what it could. A model may take its time. */
const PATIENCE = { quietMs: 12_000, stuckMs: 600_000, pollMs: 200 };
/** A person who waits is told at least this often what for. */
const SILENCE_MS = 10_000;

/** The main job once, over the API alone: as a chat application and an administrator would do it. */
export async function runDemo(
  aws: EmbeddedAws,
  conversations: readonly ImportedConversation[],
  { window, progress, scans }: DemoRun,
): Promise<DemoChannel[]> {
  const owner = createApi(aws.apiUrl, await aws.mintToken({ sub: 'demo-user' }));
  const admin = createApi(aws.apiUrl, await aws.mintToken({ sub: 'demo-admin', groups: ['admin'] }));
  const set = (key: string, value: unknown) => admin('PUT', `/admin/settings/${key}`, anyReply, { value });
  const pressureOf = (channelId: string) => owner('GET', `/channels/${channelId}/pressure`, pressureReply);

  await admin('PUT', `/admin/models/${MODEL}`, anyReply, { max_context: window });
  const channels = await importAll();
  const startedAt = performance.now();
  await set('auto_compaction_interval_minutes', 0);
  await set('auto_compaction_cooldown_minutes', 0);
  await set('auto_compaction_enabled', true);
  progress('automatic compaction is on; waiting for schedule → scanner → queue → compactor');
  await waitForAutomatic();
  await set('auto_compaction_enabled', false);
  for (const [index, channel] of channels.entries())
    await goOn(channel, conversations[index]?.continues ?? []);
  for (const channel of channels) await byHand(channel);
  return channels;

  async function importAll(): Promise<DemoChannel[]> {
    progress('importing, as if last used an hour ago: what was used in the last two minutes is left alone');
    const lastActiveAt = new Date(Date.now() - HOUR_MS);
    const imported: DemoChannel[] = [];
    for (const conversation of conversations) {
      const channelId = await importConversation(owner, conversation, { model: MODEL, lastActiveAt });
      const { tokens } = await pressureOf(channelId);
      const { title, messages } = conversation;
      progress(`imported "${title}": ${messages.length} messages, ${tokens} tokens on the active path`);
      imported.push(newChannel(channelId, conversation, tokens));
    }
    return imported;
  }

  /** Until nothing that the scanner may take is over its threshold, or nobody works on it any more. */
  async function waitForAutomatic(): Promise<void> {
    let toldAt = performance.now();
    await untilSettled(async () => {
      const sights = new Map<DemoChannel, Sight>();
      for (const channel of channels) sights.set(channel, await lookAt(channel));
      const busy = channels.filter((channel) => sights.get(channel) === 'busy');
      const seen = new Set(sights.values());
      if (seen.has('result')) toldAt = performance.now();
      if (busy.length > 0 && performance.now() - toldAt >= SILENCE_MS) {
        toldAt = performance.now();
        progress(`still compacting ${busy.map(({ title }) => `"${title}"`).join(', ')}`);
      }
      const order: readonly Sight[] = ['result', 'busy', 'quiet'];
      return order.find((sight) => seen.has(sight)) ?? (scans() > 0 ? 'done' : 'quiet');
    }, PATIENCE);
  }

  async function lookAt(channel: DemoChannel): Promise<Sight> {
    const pressure = await pressureOf(channel.channelId);
    if (pressure.boundary_id !== null && pressure.boundary_id !== channel.summaryId) {
      await note(channel, pressure.tokens);
      return 'result';
    }
    if (pressure.state === 'compacting') return 'busy';
    return pressure.over_threshold && leftAlone(pressure, channel) === undefined ? 'quiet' : 'done';
  }

  /** The person comes back: the application appends to the compacted conversation as to any other. */
  async function goOn(
    channel: DemoChannel,
    later: NonNullable<ImportedConversation['continues']>,
  ): Promise<void> {
    if (later.length === 0) return;
    progress(`"${channel.title}" goes on: ${later.length} more messages`);
    for (const { role, content } of later) {
      await owner('POST', `/channels/${channel.channelId}/messages`, anyReply, { role, content });
    }
    const { tokens } = await pressureOf(channel.channelId);
    Object.assign(channel, {
      wentOn: true,
      messages: channel.messages + later.length,
      tokensBefore: tokens,
      tokensAfter: tokens,
    });
  }

  /** What the button "Summarize & Continue" does, for what is over its threshold and the scanner does not take. */
  async function byHand(channel: DemoChannel): Promise<void> {
    const before = await pressureOf(channel.channelId);
    if (!before.over_threshold) {
      if (channel.summaryId === null) channel.reason = 'under its threshold, nothing to do';
      return;
    }
    const why = leftAlone(before, channel) ?? 'it did not get smaller by itself';
    progress(
      `automatic compaction leaves "${channel.title}" alone (${why}); summarizing it by the button, as a person would`,
    );
    try {
      await summarizeByHand(owner, channel.channelId);
      await note(channel, (await pressureOf(channel.channelId)).tokens);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      channel.reason = `${error.message} (${error.code})`;
    }
  }

  async function note(channel: DemoChannel, tokens: number): Promise<void> {
    const context = await owner('GET', `/channels/${channel.channelId}/context`, contextReply);
    const metadata = noteSummary(channel, context, { tokens, tookMs: performance.now() - startedAt });
    if (metadata === undefined) return;
    const { tokens_before, tokens_after, trigger } = metadata;
    progress(`compacted "${channel.title}": ${tokens_before} → ${tokens_after} tokens (${trigger})`);
  }
}
