import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { PortTakenError } from '../errors.ts';

const HOST = '127.0.0.1';

export type Listening = { readonly port: number; readonly url: string; close(): Promise<void> };

/**
 * Serves HTTP on the loopback interface only. Port 0 picks a free one.
 * Rejects with `PortTakenError` when another program has the port; `purpose` is what the port is for.
 */
export async function listen(
  port: number,
  purpose: string,
  handler: RequestListener,
  options: ServerOptions = {},
): Promise<Listening> {
  const server = createServer(options, handler);
  const actual = await open(server, port, purpose);
  return {
    port: actual,
    url: `http://${HOST}:${actual}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function open(server: Server, port: number, purpose: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(error.code === 'EADDRINUSE' ? new PortTakenError(port, purpose) : error),
    );
    server.listen(port, HOST, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address ? address.port : port);
    });
  });
}

/** A port that was free a moment ago, for programs that cannot pick one themselves. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createTcpServer().once('error', reject);
    server.listen(0, HOST, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
