import type { SettingsStore } from '../ports.ts';
import type { Channel } from '../treepath/channel.ts';
import { type Budget, resolveBudget, resolveThreshold, type Threshold, type Windows } from './budget.ts';
import { type GlobalSettings, globalSettings } from './global.ts';

/** Everything that decides about a channel, read once per invocation (A28: no restart for a changed value). */
export type EffectiveSettings = {
  readonly global: GlobalSettings;
  readonly windows: Windows;
};

export type ChannelLimits = { readonly budget: Budget; readonly threshold: Threshold };

/** The catalog as the budget chain reads it; the utility model's window is one of its entries. */
export const windowsOf = (catalog: Readonly<Record<string, number>>, utilityModel?: string): Windows => {
  const utility =
    utilityModel !== undefined && Object.hasOwn(catalog, utilityModel) ? catalog[utilityModel] : undefined;
  return utility === undefined ? { catalog } : { catalog, utility };
};

/** Global settings and the model catalog, read together. */
export async function readSettings(store: SettingsStore, utilityModel?: string): Promise<EffectiveSettings> {
  const [stored, catalog] = await Promise.all([store.readGlobal(), store.readCatalog()]);
  return { global: globalSettings(stored), windows: windowsOf(catalog, utilityModel) };
}

/** The budget and the threshold of one channel. */
export const limitsOf = (
  channel: Pick<Channel, 'model' | 'providerConfigId' | 'settings'>,
  settings: EffectiveSettings,
): ChannelLimits => ({
  budget: resolveBudget(channel, settings.windows),
  threshold: resolveThreshold(channel, settings.global),
});
