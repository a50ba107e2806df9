import type { Clock, Measure, NewId } from '../ports.ts';
import type { Db } from './db.ts';

/** What every part of the store works with. */
export type StoreContext = {
  readonly db: Db;
  readonly indexName: string;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly measure: Measure;
};
