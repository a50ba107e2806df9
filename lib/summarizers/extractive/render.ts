import type { Segment } from './segment.ts';

/** One line for each run of the same speaker: `- user: … … `. Roles are the only words that are not the conversation's. */
export function render(segments: readonly Segment[]): string {
  const lines: string[] = [];
  let speaker: string | undefined;
  for (const segment of segments) {
    if (segment.speaker === speaker) lines[lines.length - 1] += ` ${segment.text}`;
    else lines.push(`- ${segment.speaker}: ${segment.text}`);
    speaker = segment.speaker;
  }
  return lines.join('\n');
}

const LINE = /^- (\w+): (.*)$/;

/** The lines of a summary of this kind; another kind's is one speaker's text, line by line. */
export function parseNotes(summary: string): { speaker: string; text: string }[] {
  return summary.split('\n').flatMap((line) => {
    const match = LINE.exec(line);
    if (match) return [{ speaker: match[1] ?? '', text: match[2] ?? '' }];
    return line.trim() === '' ? [] : [{ speaker: 'notes', text: line.trim() }];
  });
}
