import { createCompact } from '../../lib/compaction/compact.ts';
import { createApp } from '../../lib/http/app.ts';
import type { Claims } from '../../lib/http/principal.ts';
import type { CompactionMessage } from '../../lib/ports.ts';
import { createExtractiveSummarizer } from '../../lib/summarizers/extractive/index.ts';
import { createUtilityRole } from '../../lib/summarizers/roles.ts';
import { newId } from '../../lib/treepath/ids.ts';
import type { TestStore } from './dynamo.ts';

const quiet = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

export type Reply = { readonly status: number; readonly headers: Headers; readonly json: any };

/** The real app over the real store; claims come in as the gateway hands them to the function. */
export function startApi(store: TestStore, utility = createUtilityRole([createExtractiveSummarizer()])) {
  const sent: CompactionMessage[] = [];
  const base = { store, clock: () => store.now, newId: () => newId(store.now), logger: quiet };
  const compact = createCompact({ ...base, utility, events: { publishResult: async () => undefined } });
  const queue = {
    send: async (messages: readonly CompactionMessage[]) => {
      sent.push(...messages);
      return [];
    },
  };
  const app = createApp({ ...base, compact, queue, adminGroup: 'admin' });

  function as(claims: Claims | undefined) {
    return async (
      method: string,
      path: string,
      body?: unknown,
      headers: Record<string, string> = {},
    ): Promise<Reply> => {
      const raw = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
      const env = {
        event: { requestContext: { authorizer: claims === undefined ? undefined : { jwt: { claims } } } },
      };
      const response = await app.request(path, { method, headers, ...raw }, env);
      const text = await response.text();
      return {
        status: response.status,
        headers: response.headers,
        json: text === '' ? undefined : JSON.parse(text),
      };
    };
  }
  return { as, sent, compact };
}
