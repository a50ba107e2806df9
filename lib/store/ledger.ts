import type { AuditEntry, Ledger, UsageEntry } from '../ports.ts';
import type { StoreContext } from './context.ts';
import type { Item, Write } from './db.ts';
import { ITEM_VERSION } from './items.ts';
import { keys, ranges } from './keys.ts';

const iso = (at: number): string => new Date(at).toISOString();
const day = (at: number): string => iso(at).slice(0, 'YYYY-MM-DD'.length);
const month = (at: number): string => iso(at).slice(0, 'YYYY-MM'.length);

export const usageItem = (entry: UsageEntry): Item => ({
  ...keys.usage(day(entry.at), iso(entry.at), entry.id),
  v: ITEM_VERSION,
  entry,
});

/** Written again by a retry of the same transaction, an entry replaces itself: its id is its key. */
export const usageWrite = (entry: UsageEntry): Write => ({ Put: { Item: usageItem(entry) } });

export const auditWrite = (entry: AuditEntry): Write => ({
  Put: { Item: { ...keys.audit(month(entry.at), iso(entry.at), entry.id), v: ITEM_VERSION, entry } },
});

const entryOf = <T>(item: Item): T => item.entry as T;

export function createLedger({ db }: StoreContext): Ledger {
  return {
    async listUsage(of) {
      return (await db.queryAll(ranges.all(`USAGE#${of}`, 'AT#'))).map(entryOf<UsageEntry>);
    },
    async listAudit(of) {
      return (await db.queryAll(ranges.all(`AUDIT#${of}`, 'AT#'))).map(entryOf<AuditEntry>);
    },
  };
}
