import type { ScanState, SettingsStore } from '../ports.ts';
import type { StoreContext } from './context.ts';
import { optimistic, type Write } from './db.ts';
import { ITEM_VERSION } from './items.ts';
import { keys, ranges } from './keys.ts';
import { auditWrite } from './ledger.ts';

/** Global settings, the model catalog, and when the last scan began. */
export function createSettingsStore({ db }: StoreContext): SettingsStore & ScanState {
  const write = (writes: Write[]): Promise<boolean> =>
    optimistic(async () => ((await db.transact(writes)) ? true : undefined));

  return {
    async readGlobal() {
      const items = await db.queryAll(ranges.all('SETTINGS', 'KEY#'));
      return Object.fromEntries(items.map(({ name, value }) => [String(name), value]));
    },

    async writeGlobal(key, value, audit) {
      await write([
        { Put: { Item: { ...keys.setting(key), v: ITEM_VERSION, name: key, value } } },
        auditWrite(audit),
      ]);
    },

    async readCatalog() {
      const items = await db.queryAll(ranges.all('CATALOG', 'MODEL#'));
      return Object.fromEntries(
        items.map(({ modelKey, maxContext }) => [String(modelKey), Number(maxContext)]),
      );
    },

    async writeCatalog(modelKey, maxContext, audit) {
      await write([
        { Put: { Item: { ...keys.model(modelKey), v: ITEM_VERSION, modelKey, maxContext } } },
        auditWrite(audit),
      ]);
    },

    startScan: (now, intervalMs) =>
      db.update({
        Key: keys.scanner(),
        UpdateExpression: 'SET lastScanAt = :now',
        ConditionExpression: 'attribute_not_exists(lastScanAt) OR lastScanAt <= :due',
        ExpressionAttributeValues: { ':now': now, ':due': now - intervalMs },
      }),
  };
}
