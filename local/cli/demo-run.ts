import { setTimeout as delay } from 'node:timers/promises';
import type { EmbeddedAws } from '../aws/index.ts';
import type { ImportedConversation } from '../importers/index.ts';
import {
  ApiError,
  anyReply,
  contextReply,
  createApi,
  type Pressure,
  pressureReply,
  resultReply,
} from './api-client.ts';
import { importConversation } from './conversations.ts';

/** What became of one conversation. */
export type DemoChannel = {
  readonly channelId: string;
  readonly title: string;
  messages: number;
  tokensBefore: number;
  /** The last message of the active path is not a question. */
  readonly isAnswered: boolean;
  /** More was said after the first compaction. */
  wentOn: boolean;
  tokensAfter: number;
  summaryId: string | null;
  summarizedCount: number;
  keptTurns: number;
  trigger: 'auto' | 'manual' | null;
  model: string | null;
  summary: string | null;
  /** Milliseconds from the start of the compactions until this one was seen. */
  tookMs: number;
  /** Why nothing was summarized, where nothing was. */
  reason?: string;
};

export type Progress = (line: string) => void;

const MODEL = 'demo';
const HOUR_MS = 3_600_000;
const POLL_MS = 200;
/** Without any change for this long, automatic compaction has done what it could. */
const SETTLED_MS = 12_000;
/** The least that automatic compaction looks at (A18). */
const AUTO_MIN_MESSAGES = 10;
const AUTO_MIN_CHARS = 20_000;

/** Why automatic compaction leaves a conversation over its threshold alone; `undefined` when it takes it. */
function leftAlone({ messages, chars }: Pressure, { isAnswered, wentOn }: DemoChannel): string | undefined {
  if (wentOn) return 'it was used within the last two minutes';
  if (!isAnswered) return 'its last turn has no answer yet';
  if (messages < AUTO_MIN_MESSAGES) return `it has fewer than ${AUTO_MIN_MESSAGES} messages`;
  return chars > AUTO_MIN_CHARS ? undefined : `it has no more than ${AUTO_MIN_CHARS} characters`;
}

/** The main job once, over the API alone: as a chat application and an administrator would do it. */
export async function runDemo(
  aws: EmbeddedAws,
  conversations: readonly ImportedConversation[],
  window: number,
  progress: Progress,
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
    // Automatic compaction leaves alone what was used in the last two minutes, and what nobody used for a week.
    const lastActiveAt = new Date(Date.now() - HOUR_MS);
    const imported: DemoChannel[] = [];
    for (const conversation of conversations) {
      const channelId = await importConversation(owner, conversation, { model: MODEL, lastActiveAt });
      const { tokens } = await pressureOf(channelId);
      progress(
        `imported "${conversation.title}": ${conversation.messages.length} messages, ${tokens} tokens on the active path`,
      );
      imported.push({
        channelId,
        title: conversation.title,
        messages: conversation.messages.length,
        tokensBefore: tokens,
        isAnswered: lastRole(conversation) === 'assistant',
        wentOn: false,
        tokensAfter: tokens,
        summaryId: null,
        summarizedCount: 0,
        keptTurns: 0,
        trigger: null,
        model: null,
        summary: null,
        tookMs: 0,
      });
    }
    return imported;
  }

  /** Until nothing that the scanner may take is over its threshold, or nothing changes any more. */
  async function waitForAutomatic(): Promise<void> {
    let changedAt = performance.now();
    while (performance.now() - changedAt < SETTLED_MS) {
      let open = 0;
      for (const channel of channels) {
        const pressure = await pressureOf(channel.channelId);
        if (pressure.boundary_id !== null && pressure.boundary_id !== channel.summaryId) {
          await note(channel, pressure.tokens);
          changedAt = performance.now();
        }
        const taken = pressure.over_threshold && leftAlone(pressure, channel) === undefined;
        if (taken || pressure.state === 'compacting') open += 1;
      }
      if (open === 0) return;
      await delay(POLL_MS);
    }
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
      await owner('POST', `/channels/${channel.channelId}/summarize`, resultReply);
      await note(channel, (await pressureOf(channel.channelId)).tokens);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      channel.reason = `${error.message} (${error.code})`;
    }
  }

  async function note(channel: DemoChannel, tokens: number): Promise<void> {
    const { summary_id, messages } = await owner(
      'GET',
      `/channels/${channel.channelId}/context`,
      contextReply,
    );
    const at = messages.findIndex(({ id }) => id === summary_id);
    const summary = messages[at];
    if (summary === undefined) return;
    const { metadata } = summary;
    Object.assign(channel, {
      tokensAfter: tokens,
      summaryId: summary.id,
      summarizedCount: channel.summarizedCount + Number(metadata.summarized_count),
      keptTurns: messages
        .slice(at + 1)
        .filter(({ role, content }) => role === 'user' && !isToolResult(content)).length,
      trigger: metadata.trigger,
      model: metadata.model,
      summary: String(summary.content),
      tookMs: performance.now() - startedAt,
    });
    progress(
      `compacted "${channel.title}": ${metadata.tokens_before} → ${metadata.tokens_after} tokens (${metadata.trigger})`,
    );
  }
}

/** Role of the message that was shown last. */
const lastRole = ({ messages, currentRef }: ImportedConversation): string | undefined =>
  messages.find(({ ref }) => ref === currentRef)?.role ?? messages.at(-1)?.role;

const isToolResult = (content: unknown): boolean =>
  Array.isArray(content) && content.length > 0 && content.every((block) => block?.type === 'tool_result');
