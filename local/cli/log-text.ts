import type { LogEntry } from '../aws/index.ts';

/** One scan that ran to its end. */
export const isScan = ({ message }: LogEntry): boolean => message === 'compaction: scan finished';

export const isWarning = ({ level }: LogEntry): boolean => level === 'warn' || level === 'error';

/** Fields of every line of the functions' logger; the line itself says the rest. */
const QUIET = new Set([
  'level',
  'message',
  'timestamp',
  'service',
  'sampling_rate',
  'cold_start',
  'function_arn',
  'function_memory_size',
  'function_name',
  'function_request_id',
  'xray_trace_id',
  'channel_id',
  'correlation_id',
  'trigger',
]);

const isEmpty = (value: unknown): boolean =>
  value === undefined || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);

/** A line for a person who watches: time, who says it, what, and the figures. */
export function logText({ time, source, resource, message, data = {} }: LogEntry): string {
  const clock = new Date(time).toTimeString().slice(0, 8);
  const who = source === 'function' ? (resource ?? source) : source;
  const figures = Object.entries(data)
    .filter(([name, value]) => !QUIET.has(name) && !isEmpty(value))
    .map(([name, value]) => `${name}=${typeof value === 'object' ? JSON.stringify(value) : String(value)}`);
  return [clock, who.padEnd(9), message, ...figures].join(' ');
}
