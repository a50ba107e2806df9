import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { measureContent } from '../compaction/estimator/index.ts';
import type {
  Clock,
  CompactionStore,
  ConversationStore,
  JobStore,
  Ledger,
  Measure,
  NewId,
  PressureStore,
  RateLimiter,
  ScanState,
  SettingsStore,
} from '../ports.ts';
import { createAppend } from './append.ts';
import { createChannelStore } from './channels.ts';
import { createCompactionStore } from './compaction.ts';
import type { StoreContext } from './context.ts';
import { createContextStore } from './contexts.ts';
import { createCursorStore } from './cursors.ts';
import { createDb } from './db.ts';
import { createImport } from './import.ts';
import { createJobStore } from './jobs.ts';
import { createLedger } from './ledger.ts';
import { createRateLimiter } from './limiter.ts';
import { createPressureStore } from './pressure.ts';
import { createSettingsStore } from './settings.ts';

export type Store = ConversationStore &
  PressureStore &
  CompactionStore &
  RateLimiter &
  SettingsStore &
  ScanState &
  Ledger &
  JobStore;

export type StoreOptions = {
  readonly client: DynamoDBDocumentClient;
  readonly tableName: string;
  readonly indexName: string;
  readonly clock: Clock;
  readonly newId: NewId;
  /** The default estimator unless another is given. */
  readonly measure?: Measure;
};

/** The one table, behind every interface that the domain owns. */
export function createStore(options: StoreOptions): Store {
  const context: StoreContext = {
    db: createDb(options.client, options.tableName),
    indexName: options.indexName,
    clock: options.clock,
    newId: options.newId,
    measure: options.measure ?? measureContent,
  };
  return {
    ...createChannelStore(context),
    importChannel: createImport(context),
    append: createAppend(context),
    ...createContextStore(context),
    ...createCursorStore(context),
    ...createPressureStore(context),
    ...createCompactionStore(context),
    ...createRateLimiter(context),
    ...createSettingsStore(context),
    ...createLedger(context),
    ...createJobStore(context),
  };
}
