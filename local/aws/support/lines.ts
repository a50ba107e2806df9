import type { Readable } from 'node:stream';

/** Calls `onLine` for each complete line of a stream, and for what is left when it ends. */
export function readLines(stream: Readable | null, onLine: (line: string) => void): void {
  let rest = '';
  stream?.setEncoding('utf8');
  stream?.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') onLine(line);
  });
  stream?.on('end', () => {
    if (rest !== '') onLine(rest);
    rest = '';
  });
}
