import * as z from 'zod';
import { InvalidInputError, NotFoundError } from '../errors.ts';
import { DEFAULT_THRESHOLD } from './defaults.ts';

/** A25, with the range of each key in words for the person who set it wrong. */
const SETTINGS = {
  auto_compaction_enabled: {
    schema: z.boolean(),
    initial: false as boolean,
    range: 'true or false',
  },
  auto_compaction_threshold: {
    schema: z.number().gt(0).lte(1),
    initial: DEFAULT_THRESHOLD as number,
    range: 'a ratio above 0 and at most 1, for example 0.7',
  },
  auto_compaction_interval_minutes: {
    schema: z.int().min(0).max(1_440),
    initial: 5 as number,
    range: 'a whole number of minutes from 0 (every tick of the schedule) to 1440',
  },
  auto_compaction_concurrency: {
    schema: z.int().min(1).max(1_000),
    initial: 2 as number,
    range: 'a whole number from 1 to 1000',
  },
  auto_compaction_cooldown_minutes: {
    schema: z.int().min(0).max(10_080),
    initial: 30 as number,
    range: 'a whole number of minutes from 0 to 10080',
  },
  /** Calls of the utility role an hour; 0 is no limit. */
  utility_rate_limit: {
    schema: z.int().min(0).max(1_000_000),
    initial: 0 as number,
    range: 'a whole number of calls an hour from 0 (no limit) to 1000000',
  },
};

export type SettingKey = keyof typeof SETTINGS;
export type GlobalSettings = { readonly [K in SettingKey]: (typeof SETTINGS)[K]['initial'] };

export const SETTING_KEYS = Object.keys(SETTINGS) as readonly SettingKey[];

const isSettingKey = (key: string): key is SettingKey => Object.hasOwn(SETTINGS, key);

/**
 * A value for a key, as an administrator gave it.
 * Throws `NotFoundError` (`unknown_setting`) and `InvalidInputError` (`invalid_setting`, with the range).
 */
export function parseSetting(key: string, value: unknown): GlobalSettings[SettingKey] {
  if (!isSettingKey(key)) {
    throw new NotFoundError(
      'unknown_setting',
      `There is no setting "${key}". Known: ${SETTING_KEYS.join(', ')}.`,
    );
  }
  const { schema, range } = SETTINGS[key];
  const parsed = schema.safeParse(value);
  if (!parsed.success) {
    throw new InvalidInputError('invalid_setting', `${key} must be ${range}.`, { details: { key, range } });
  }
  return parsed.data;
}

/** All settings, defaults filled in. A stored value that no longer fits its rule counts as not set. */
export function globalSettings(stored: Readonly<Record<string, unknown>>): GlobalSettings {
  const entries = SETTING_KEYS.map((key) => {
    const parsed = SETTINGS[key].schema.safeParse(stored[key]);
    return [key, parsed.success ? parsed.data : SETTINGS[key].initial] as const;
  });
  return Object.fromEntries(entries) as GlobalSettings;
}
