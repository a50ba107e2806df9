import { launch } from './instance.ts';
import type { EmbeddedAws, EmbeddedAwsOptions } from './types.ts';

export {
  EmbeddedAwsError,
  InvalidTemplateError,
  PortTakenError,
  UnsupportedTemplateError,
} from './errors.ts';
export type {
  EmbeddedAws,
  EmbeddedAwsOptions,
  InvocationResult,
  LogEntry,
  RunningFunction,
  RunningResource,
  TokenClaims,
} from './types.ts';

/**
 * Runs a synthesized stack on this machine, on the loopback interface only. The template alone decides what runs.
 * Rejects with an `EmbeddedAwsError` whose message is one clear sentence: `template_unsupported`, `template_invalid`,
 * `port_taken`, `data_in_use`, `data_outdated`, `engine_missing`, `engine_failed` or `assembly_invalid`; nothing is
 * left running then.
 *
 * Data in `dataDir` survives a stop and a crash: tables, queued messages (what was in flight is delivered again at the
 * next start) and the signing key. Asynchronous events that wait for a retry are given up at a stop.
 */
export function startEmbeddedAws(options: EmbeddedAwsOptions): Promise<EmbeddedAws> {
  return launch(options);
}
