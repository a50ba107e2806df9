import type * as z from 'zod';
import type { ImportedConversation } from '../importers/index.ts';
import type { contextReply, Pressure } from './api-client.ts';

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

/** The least that automatic compaction looks at (A18). */
const AUTO_MIN_MESSAGES = 10;
const AUTO_MIN_CHARS = 20_000;

export const newChannel = (
  channelId: string,
  conversation: ImportedConversation,
  tokens: number,
): DemoChannel => ({
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

/** Role of the message that was shown last. */
const lastRole = ({ messages, currentRef }: ImportedConversation): string | undefined =>
  messages.find(({ ref }) => ref === currentRef)?.role ?? messages.at(-1)?.role;

/** Why automatic compaction leaves a conversation over its threshold alone; `undefined` when it takes it. */
export function leftAlone(
  { messages, chars }: Pressure,
  { isAnswered, wentOn }: DemoChannel,
): string | undefined {
  if (wentOn) return 'it was used within the last two minutes';
  if (!isAnswered) return 'its last turn has no answer yet';
  if (messages < AUTO_MIN_MESSAGES) return `it has fewer than ${AUTO_MIN_MESSAGES} messages`;
  return chars > AUTO_MIN_CHARS ? undefined : `it has no more than ${AUTO_MIN_CHARS} characters`;
}

/** Writes the summary of a context into the channel's record; returns it, or `undefined` when there is none. */
export function noteSummary(
  channel: DemoChannel,
  { summary_id, messages }: z.output<typeof contextReply>,
  seen: { readonly tokens: number; readonly tookMs: number },
): Readonly<Record<string, unknown>> | undefined {
  const at = messages.findIndex(({ id }) => id === summary_id);
  const summary = messages[at];
  if (summary === undefined) return undefined;
  const { metadata } = summary;
  Object.assign(channel, {
    tokensAfter: seen.tokens,
    tookMs: seen.tookMs,
    summaryId: summary.id,
    summarizedCount: channel.summarizedCount + Number(metadata.summarized_count),
    keptTurns: messages.slice(at + 1).filter(({ role, content }) => role === 'user' && !isToolResult(content))
      .length,
    trigger: metadata.trigger,
    model: metadata.model,
    summary: String(summary.content),
  });
  return metadata;
}

const isToolResult = (content: unknown): boolean =>
  Array.isArray(content) && content.length > 0 && content.every((block) => block?.type === 'tool_result');
