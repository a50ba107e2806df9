import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import * as z from 'zod';
import type { EmbeddedAws } from '../aws/index.ts';
import { anyReply, createApi } from './api-client.ts';
import { importConversation, readConversations, sampleFiles } from './conversations.ts';
import { runMain, UsageError } from './fail.ts';
import { isWarning, logText } from './log-text.ts';
import { overview } from './overview.ts';
import { startStack } from './stack.ts';

const DATA_DIR = resolve(import.meta.dirname, '../../.local');
const DEFAULT_PORT = 4_000;
const HOUR_MS = 3_600_000;
export const USER = 'you';

const HELP = `npm start -- [options]

Runs the service on this machine: the synthesized stack on an embedded AWS, no account and no Docker.

  --memory     keep nothing; without it the data stays in .local/ between starts
  --port N     port of the API (default ${DEFAULT_PORT}, or PORT), the next one is that of the AWS services; 0 takes free ones
  --help       this text

ANTHROPIC_API_KEY, or MODEL_BASE_URL (with MODEL_ID) of anything that speaks the Messages API, gives it a model.`;

function parseStartArgs(argv: readonly string[]): { memory: boolean; port: number; help: boolean } {
  let values: { memory: boolean; port: string; help: boolean };
  try {
    ({ values } = parseArgs({
      args: [...argv],
      options: {
        memory: { type: 'boolean', default: false },
        port: { type: 'string', default: process.env.PORT ?? `${DEFAULT_PORT}` },
        help: { type: 'boolean', default: false },
      },
    }));
  } catch (error) {
    throw new UsageError(`${(error as Error).message.split('. ')[0]}. See npm start -- --help.`);
  }
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_534) {
    throw new UsageError(`--port takes a number from 0 to 65534; "${values.port}" is none.`);
  }
  return { ...values, port };
}

const channelList = z.looseObject({ channels: z.array(z.looseObject({ id: z.string() })) });

/** The samples on the first start; afterwards the channels that are there. Returns one to show in the examples. */
async function firstChannel(aws: EmbeddedAws, token: string): Promise<string | undefined> {
  const api = createApi(aws.apiUrl, token);
  const { channels } = await api('GET', '/channels', channelList);
  if (channels[0]) return channels[0].id;
  const admin = createApi(aws.apiUrl, await aws.mintToken({ sub: USER, groups: ['admin'] }));
  await admin('PUT', '/admin/models/demo', anyReply, { max_context: 8_000 });
  const ids: string[] = [];
  for (const conversation of await readConversations(await sampleFiles())) {
    const lastActiveAt = new Date(Date.now() - HOUR_MS);
    ids.push(await importConversation(api, conversation, { model: 'demo', lastActiveAt }));
  }
  return ids[0];
}

/** Ctrl-C drains and ends with 0; a second one, or another signal, ends at once. */
function untilSignal(): Promise<void> {
  return new Promise((done) => {
    let signalled = false;
    const onSignal = (): void => {
      if (signalled) process.exit(130);
      signalled = true;
      done();
    };
    process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  });
}

await runMain(async () => {
  const options = parseStartArgs(process.argv.slice(2));
  if (options.help) {
    process.stdout.write(`${HELP}\n`);
    return;
  }
  process.stdout.write('Synthesizing the stack and starting it …\n');
  const signalled = untilSignal();
  let live = false;
  const aws = await startStack({
    apiPort: options.port,
    // The issuer's address is in every token: with the same port a token outlives a restart.
    gatewayPort: options.port === 0 ? 0 : options.port + 1,
    ...(options.memory ? {} : { dataDir: DATA_DIR }),
    onLog: (entry) => {
      if (entry.level !== 'debug' && (live || isWarning(entry))) process.stdout.write(`${logText(entry)}\n`);
    },
  });
  try {
    const token = await aws.mintToken({ sub: USER, groups: ['admin'], expiresIn: 24 * 3_600 });
    const channelId = await firstChannel(aws, token);
    process.stdout.write(
      `${overview(aws, { token, channelId, dataDir: options.memory ? undefined : DATA_DIR })}\n`,
    );
    live = true;
    await signalled;
    process.stdout.write('\nStopping: work in flight is finished first (Ctrl-C again to end at once) …\n');
  } finally {
    await aws.stop();
  }
  process.stdout.write('Stopped.\n');
  process.exit(0);
});
