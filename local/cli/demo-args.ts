import { parseArgs } from 'node:util';
import { UsageError } from './fail.ts';

export type DemoOptions = {
  readonly inputs: readonly string[];
  /** Context window in tokens. */
  readonly window: number;
  readonly json: boolean;
  readonly help: boolean;
};

/** Small enough that every sample comes under pressure. */
export const DEFAULT_WINDOW = 4_000;
const MIN_WINDOW = 256;

export const DEMO_HELP = `npm run demo -- [options]

Runs the whole service once on this machine: imports conversations, switches automatic compaction on, lets the schedule,
the scanner, the queue and the compactor do their work until nothing is over its threshold, and shows what came of it.

  --input FILE   a conversation of your own; may be given more than once. Exports of ChatGPT, Claude and Open WebUI,
                 or messages with role and content as JSON or JSONL. Default: the samples in samples/
  --window N     context window of the conversations' model in tokens, at least ${MIN_WINDOW} (default ${DEFAULT_WINDOW})
  --json         print one JSON document and nothing else on stdout
  --help         this text

With ANTHROPIC_API_KEY, or MODEL_BASE_URL of anything that speaks the Messages API, a model summarizes; without, sentences
are selected by the extractive summarizer.`;

/** Throws `UsageError`. */
export function parseDemoArgs(argv: readonly string[]): DemoOptions {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        input: { type: 'string', multiple: true, default: [] },
        window: { type: 'string', default: `${DEFAULT_WINDOW}` },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
    return { inputs: values.input, window: windowOf(values.window), json: values.json, help: values.help };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${(error as Error).message.split('. ')[0]}. See npm run demo -- --help.`);
  }
}

function windowOf(text: string): number {
  const window = Number(text);
  if (!Number.isSafeInteger(window) || window < MIN_WINDOW || window > 100_000_000) {
    throw new UsageError(`--window takes a whole number of tokens from ${MIN_WINDOW}; "${text}" is none.`);
  }
  return window;
}
