import { clip } from './head.ts';

const MAX_VALUE = 120;
const MAX_ENTRIES = 8;

function shownValue(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  const line = text
    .slice(0, 4 * MAX_VALUE)
    .replace(/\s+/gu, ' ')
    .trim();
  return line.length > MAX_VALUE ? `${clip(line, MAX_VALUE)}…` : line;
}

/** The arguments of a tool call on one line, `key=value, …`; long values and long lists are cut. */
export function inputDigest(input: unknown): string {
  if (input === null || input === undefined) return '';
  if (typeof input !== 'object' || Array.isArray(input)) return shownValue(input);
  const entries = Object.entries(input);
  const shown = entries.slice(0, MAX_ENTRIES).map(([key, value]) => `${key}=${shownValue(value)}`);
  return [...shown, ...(entries.length > MAX_ENTRIES ? ['…'] : [])].join(', ');
}
