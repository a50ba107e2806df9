import type { DemoChannel } from './demo-channel.ts';

const number = new Intl.NumberFormat('en-US');

/** Columns that a terminal shows: East Asian wide characters and emoji take two. */
const width = (text: string): number =>
  [...text].reduce(
    (sum, character) =>
      sum +
      (/[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\u{1f300}-\u{1faff}]/u.test(
        character,
      )
        ? 2
        : 1),
    0,
  );

const pad = (text: string, columns: number, right: boolean): string => {
  const space = ' '.repeat(Math.max(0, columns - width(text)));
  return right ? space + text : text + space;
};

function shortened(text: string, columns: number): string {
  if (width(text) <= columns) return text;
  let kept = '';
  for (const character of text) {
    if (width(kept + character) > columns - 1) break;
    kept += character;
  }
  return `${kept}…`;
}

const saved = ({ tokensBefore, tokensAfter }: DemoChannel): string =>
  tokensBefore === 0 ? '–' : `${Math.round((1 - tokensAfter / tokensBefore) * 100)} %`;

const HEAD = ['conversation', 'messages', 'tokens', 'saved', 'kept turns', 'by', 'model', 'time'];
const RIGHT = [false, true, true, true, true, false, false, true];

function row(channel: DemoChannel): string[] {
  const tokens = `${number.format(channel.tokensBefore)} → ${number.format(channel.tokensAfter)}`;
  const done = channel.summaryId !== null;
  return [
    shortened(channel.title, 34),
    `${channel.messages}`,
    tokens,
    saved(channel),
    done ? `${channel.keptTurns}` : '–',
    channel.trigger ?? '–',
    channel.model ?? '–',
    done ? `${(channel.tookMs / 1_000).toFixed(1)} s` : '–',
  ];
}

/** The table and the summaries, for a terminal. */
export function textReport(channels: readonly DemoChannel[], scans: number, seconds: number): string {
  const rows = [HEAD, ...channels.map(row)];
  const columns = HEAD.map((_, column) => Math.max(...rows.map((cells) => width(cells[column] ?? ''))));
  const lines = rows.map((cells) =>
    cells
      .map((cell, column) => pad(cell, columns[column] ?? 0, RIGHT[column] ?? false))
      .join('  ')
      .trimEnd(),
  );
  lines.splice(1, 0, columns.map((column) => '─'.repeat(column)).join('  '));
  const summaries = channels.map(({ title, summary, summarizedCount, reason }) =>
    summary === null
      ? `${title}\n  not summarized: ${reason ?? 'nothing to do'}`
      : `${title}\n▸ ${summarizedCount} earlier messages summarized\n${summary.replace(/^/gm, '  ')}`,
  );
  return [...lines, '', `${scans} scans, ${seconds.toFixed(1)} s`, '', summaries.join('\n\n'), ''].join('\n');
}

/** The document that `--json` prints. */
export function jsonReport(channels: readonly DemoChannel[], scans: number, seconds: number): string {
  return JSON.stringify({
    channels: channels.map((channel) => ({
      channel_id: channel.channelId,
      title: channel.title,
      messages: channel.messages,
      tokens_before: channel.tokensBefore,
      tokens_after: channel.tokensAfter,
      summary_id: channel.summaryId,
      summarized_count: channel.summarizedCount,
      trigger: channel.trigger,
      model: channel.model,
      summary: channel.summary,
    })),
    scans,
    seconds: Math.round(seconds * 10) / 10,
  });
}
