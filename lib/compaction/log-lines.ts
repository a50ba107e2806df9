import type { CompactSkip } from './outcome.ts';

const shortWindow = (tokens: number): string =>
  tokens >= 1_000 ? `${Math.round(tokens / 1_000)}K` : `${tokens}`;
const percent = (ratio: number): string => `${Math.round(ratio * 100)}%`;
const minutes = (ms: number): string => `${Math.ceil(ms / 60_000)}m`;
const words = (reason: string): string => reason.replaceAll('_', ' ');

/** The messages of A32, to the letter; dashboards and people grep for them. */
export const logLines = {
  scanning: (candidates: number): string => `🔍 compaction: scanning ${candidates} candidates`,
  qualifies: (channelId: string, ratio: number, budget: number, messages: number): string =>
    `🔍 compaction: channel ${channelId} qualifies (${percent(ratio)} of ${shortWindow(budget)} context, ${messages} messages post-summary)`,
  compacting: (channelId: string, userId: string, trigger: string): string =>
    `📝 compaction: compacting channel ${channelId} for user ${userId} (trigger=${trigger})`,
  done: (channelId: string, messages: number, chars: number, model: string): string =>
    `✅ compaction: channel ${channelId} done (${messages} messages → ${chars} chars, model=${model})`,
  skipped: (channelId: string, reason: CompactSkip | 'stale', remainingMs?: number): string =>
    `⏭ compaction: channel ${channelId} skipped (${words(reason)}${remainingMs === undefined ? '' : `, ${minutes(remainingMs)} remaining`})`,
  failed: (channelId: string, code: string): string => `❌ compaction: channel ${channelId} failed (${code})`,
};
