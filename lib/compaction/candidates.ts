import type { Candidate, PressureStore } from '../ports.ts';
import { resolveBudget, type Windows } from '../settings/budget.ts';

export type Pressed = Candidate & { readonly budget: number; readonly ratio: number };

/** A model key as a channel would carry it, so that the budget chain of A14 applies unchanged. */
function channelOf(modelKey: string): { model?: string; providerConfigId?: string } {
  if (modelKey === '-') return {};
  return modelKey.startsWith('config:')
    ? { providerConfigId: modelKey.slice('config:'.length) }
    : { model: modelKey };
}

/** Bounds of one model key: the budget of today and the ratio of today, no reindexing (design 4). */
async function pressedUnder(
  store: PressureStore,
  modelKey: string,
  windows: Windows,
  threshold: number,
  limit: number,
): Promise<Pressed[]> {
  const budget = resolveBudget(channelOf(modelKey), windows).tokens;
  const halves = await Promise.all([
    store.findPressed({ modelKey, half: 'default', minTokens: budget * threshold, limit }),
    store.findPressed({ modelKey, half: 'overridden', minTokens: budget, limit }),
  ]);
  return halves.flat().map((candidate) => ({ ...candidate, budget, ratio: candidate.tokens / budget }));
}

/**
 * Every cursor at or over its threshold, most pressed first, at most `limit` for each model key and half. Its cost
 * follows the number of pressed cursors, not the number of channels.
 */
export async function findCandidates(
  store: PressureStore,
  windows: Windows,
  threshold: number,
  limit: number,
): Promise<Pressed[]> {
  const keys = await store.listModelKeys();
  const pressed: Pressed[] = [];
  for (const key of keys) pressed.push(...(await pressedUnder(store, key, windows, threshold, limit)));
  return pressed.sort((a, b) => b.ratio - a.ratio);
}
