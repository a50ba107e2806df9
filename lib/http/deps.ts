import type { Compact } from '../compaction/outcome.ts';
import type {
  Clock,
  CompactionQueue,
  ConversationStore,
  JobStore,
  Ledger,
  Logger,
  NewId,
  SettingsStore,
} from '../ports.ts';

export type HttpDeps = {
  readonly store: ConversationStore & SettingsStore & Ledger & JobStore;
  readonly compact: Compact;
  readonly queue: CompactionQueue;
  /** Id of the summarizing model, for the budget chain (A14). */
  readonly utilityModel?: string;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly logger: Logger;
  /** Members of this group may use the admin routes. */
  readonly adminGroup: string;
};
