import type { IncomingMessage } from 'node:http';

/**
 * The address of a request at `origin`, whatever its request line says: `//elsewhere/x` and `http://elsewhere/x` are
 * paths here and never lead to another host.
 */
export function requestUrl({ url = '/' }: IncomingMessage, origin: string): URL {
  const base = origin.replace(/\/+$/, '');
  return new URL(url.startsWith('/') ? `${base}${url}` : `${base}/${encodeURIComponent(url)}`);
}
