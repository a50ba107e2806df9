import type { CompactResult } from '../compaction/outcome.ts';
import type { pressureOf } from '../compaction/pressure.ts';
import type { Cursor, Job } from '../ports.ts';
import type { Channel } from '../treepath/channel.ts';
import type { Message } from '../treepath/message.ts';
import { skipCode } from './refusals.ts';

type Json = Record<string, unknown>;

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

export const presentChannel = (channel: Channel): Json => ({
  id: channel.id,
  title: channel.title,
  type: channel.type,
  model: channel.model ?? null,
  provider_config_id: channel.providerConfigId ?? null,
  team_id: channel.teamId ?? null,
  settings: channel.settings,
  archived: channel.archived,
  created_at: channel.createdAt,
  updated_at: channel.updatedAt,
});

/** A summary's metadata in the API's spelling; anything else is the application's own and stays as it came. */
const presentMetadata = ({ metadata }: Message): Json =>
  metadata.type === 'summary'
    ? Object.fromEntries(Object.entries(metadata).map(([name, value]) => [snake(name), value]))
    : { ...metadata };

export const presentMessage = (message: Message): Json => ({
  id: message.id,
  channel_id: message.channelId,
  parent_id: message.parentId,
  sibling_index: message.siblingIndex,
  depth: message.depth,
  role: message.role,
  content: message.content,
  metadata: presentMetadata(message),
  tokens: message.tokens,
  created_at: message.createdAt,
});

export const presentCursor = (cursor: Cursor): Json => ({
  channel_id: cursor.channelId,
  leaf_id: cursor.leafId,
  depth: cursor.leafDepth,
  tokens: cursor.sums.tokens,
  messages: cursor.sums.messages,
  boundary_id: cursor.sums.boundaryId ?? null,
});

/** A5. */
export const presentResult = (result: CompactResult): Json => ({
  summary_id: result.summaryId,
  summarized_count: result.summarizedCount,
  model: result.model,
  used_fallback: result.usedFallback,
  content: result.content,
  input_tokens: result.inputTokens,
  output_tokens: result.outputTokens,
});

export const presentJob = (job: Job): Json => ({
  id: job.id,
  channel_id: job.channelId,
  status: job.status,
  created_at: job.createdAt,
  ...(job.result === undefined ? {} : { result: job.result }),
  ...(job.error === undefined ? {} : { error: { ...job.error, code: skipCode(job.error.code) } }),
});

const isoOrNull = (at: number | undefined): string | null =>
  at === undefined ? null : new Date(at).toISOString();

export const presentPressure = (
  channelId: string,
  leafId: string | null,
  pressure: ReturnType<typeof pressureOf>,
): Json => ({
  channel_id: channelId,
  leaf_id: leafId,
  tokens: pressure.tokens,
  messages: pressure.messages,
  chars: pressure.chars,
  budget: pressure.budget.tokens,
  budget_source: pressure.budget.source,
  ratio: pressure.ratio,
  threshold: pressure.threshold.ratio,
  threshold_source: pressure.threshold.source,
  warning: pressure.warning,
  over_threshold: pressure.overThreshold,
  state: pressure.state,
  boundary_id: pressure.boundaryId ?? null,
  cooldown_until: isoOrNull(pressure.cooldownUntil),
  retry_after: isoOrNull(pressure.retryAfter),
  would_summarize: pressure.wouldSummarize,
  would_keep: pressure.wouldKeep,
});
