import type { Channel } from '../treepath/channel.ts';
import { DEFAULT_CONTEXT_BUDGET } from './defaults.ts';
import type { GlobalSettings } from './global.ts';

/** The key under which the pressure index and the catalog know a channel's model. */
export const modelKeyOf = (channel: Pick<Channel, 'model' | 'providerConfigId'>): string =>
  channel.model ?? (channel.providerConfigId === undefined ? '-' : `config:${channel.providerConfigId}`);

export type BudgetSource = 'model' | 'provider_config' | 'utility_model' | 'default';
export type Budget = { readonly tokens: number; readonly source: BudgetSource };

/** Windows by model key, and that of the utility role's model when it is known. */
export type Windows = {
  readonly catalog: Readonly<Record<string, number>>;
  readonly utility?: number;
};

/** A14: model, provider configuration, utility model, 128 000. A catalog value counts only above 0. */
export function resolveBudget(
  channel: Pick<Channel, 'model' | 'providerConfigId'>,
  windows: Windows,
): Budget {
  const known = (key: string | undefined): number | undefined => {
    const tokens =
      key !== undefined && Object.hasOwn(windows.catalog, key) ? windows.catalog[key] : undefined;
    return tokens !== undefined && tokens > 0 ? tokens : undefined;
  };
  const byModel = known(channel.model);
  if (byModel !== undefined) return { tokens: byModel, source: 'model' };
  const byConfig = known(channel.providerConfigId && `config:${channel.providerConfigId}`);
  if (byConfig !== undefined) return { tokens: byConfig, source: 'provider_config' };
  if (windows.utility !== undefined && windows.utility > 0 && Number.isFinite(windows.utility)) {
    return { tokens: windows.utility, source: 'utility_model' };
  }
  return { tokens: DEFAULT_CONTEXT_BUDGET, source: 'default' };
}

export type Threshold = { readonly ratio: number; readonly source: 'channel' | 'global' };

/** A20: the channel's own ratio, else the global one. */
export function resolveThreshold(channel: Pick<Channel, 'settings'>, global: GlobalSettings): Threshold {
  const own = channel.settings.compaction_threshold;
  return own === undefined
    ? { ratio: global.auto_compaction_threshold, source: 'global' }
    : { ratio: own, source: 'channel' };
}
