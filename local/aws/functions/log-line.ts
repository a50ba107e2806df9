import type { LogEntry } from '../types.ts';

const LEVELS: Readonly<Record<string, LogEntry['level']>> = {
  trace: 'debug',
  debug: 'debug',
  info: 'info',
  warn: 'warn',
  error: 'error',
  critical: 'error',
  fatal: 'error',
};

/**
 * What a function printed: a structured line keeps its level, message and fields, any other is its own message. Metrics
 * in the embedded metric format are for a metrics store and no one's reading.
 */
export function functionLine(label: string, line: string): Omit<LogEntry, 'time'> {
  const data = parse(line);
  if (data && '_aws' in data)
    return { level: 'debug', source: 'function', resource: label, message: 'metrics', data };
  const message = typeof data?.message === 'string' ? data.message : line;
  const level = LEVELS[String(data?.level ?? 'info').toLowerCase()] ?? 'info';
  return { level, source: 'function', resource: label, message, ...(data ? { data } : {}) };
}

function parse(line: string): Record<string, unknown> | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
