/** Nothing costs less than 1/8 token a character, so more would never fit. */
const MAX_CHARS_PER_TOKEN = 8;
const ELLIPSIS = '…';

/** The first `max` UTF-16 units, one less where that would cut a character in two. */
export function clip(text: string, max: number): string {
  const last = text.charCodeAt(max - 1);
  return text.slice(0, text.length > max && last >= 0xd800 && last <= 0xdbff ? max - 1 : max);
}

/** The longest start of a text that fits in `maxTokens`, cut between characters and marked as cut. */
export function head(text: string, maxTokens: number, estimate: (text: string) => number): string {
  const line = text
    .trim()
    .slice(0, maxTokens * MAX_CHARS_PER_TOKEN)
    .replace(/\s+/gu, ' ');
  if (line.length === text.trim().length && estimate(line) <= maxTokens) return line;
  const points = [...line];
  let low = 0;
  let high = points.length;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (estimate(points.slice(0, middle).join('').trimEnd() + ELLIPSIS) <= maxTokens) low = middle;
    else high = middle - 1;
  }
  return points.slice(0, low).join('').trimEnd() + ELLIPSIS;
}
