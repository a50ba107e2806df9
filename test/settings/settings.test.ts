import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { resolveBudget, resolveThreshold } from '../../lib/settings/budget.ts';
import { globalSettings, parseSetting } from '../../lib/settings/global.ts';

describe('global settings', () => {
  it('A25: ships with automatic compaction off and the documented defaults', () => {
    assert.deepEqual(globalSettings({}), {
      auto_compaction_enabled: false,
      auto_compaction_threshold: 0.7,
      auto_compaction_interval_minutes: 5,
      auto_compaction_concurrency: 2,
      auto_compaction_cooldown_minutes: 30,
      utility_rate_limit: 0,
    });
  });

  it('refuses a wrong value with its range, and an unknown key with the known ones', () => {
    assert.throws(() => parseSetting('auto_compaction_threshold', 70), {
      code: 'invalid_setting',
      message: /above 0 and at most 1/,
    });
    assert.throws(() => parseSetting('auto_compaction_enabled', 'yes'), { code: 'invalid_setting' });
    assert.throws(() => parseSetting('auto_compaction_concurrency', 0), {
      code: 'invalid_setting',
      message: /1 to 1000/,
    });
    assert.throws(() => parseSetting('toString', 1), {
      code: 'unknown_setting',
      message: /auto_compaction_enabled/,
    });
    assert.equal(parseSetting('auto_compaction_threshold', 0.5), 0.5);
  });

  it('takes a stored value that breaks its rule for not set', () => {
    assert.equal(globalSettings({ auto_compaction_threshold: 'high' }).auto_compaction_threshold, 0.7);
  });
});

describe('A14: budget chain', () => {
  const catalog = { big: 200_000, zero: 0, 'config:mine': 32_000 };
  it('takes the model, then the provider configuration, then the utility model, then 128 000', () => {
    assert.deepEqual(resolveBudget({ model: 'big', providerConfigId: 'mine' }, { catalog }), {
      tokens: 200_000,
      source: 'model',
    });
    assert.deepEqual(resolveBudget({ model: 'zero', providerConfigId: 'mine' }, { catalog }), {
      tokens: 32_000,
      source: 'provider_config',
    });
    assert.deepEqual(resolveBudget({ model: 'zero' }, { catalog, utility: 100_000 }), {
      tokens: 100_000,
      source: 'utility_model',
    });
    assert.deepEqual(resolveBudget({}, { catalog, utility: Number.POSITIVE_INFINITY }), {
      tokens: 128_000,
      source: 'default',
    });
    assert.deepEqual(resolveBudget({ model: 'constructor' }, { catalog }), {
      tokens: 128_000,
      source: 'default',
    });
  });
});

describe('A20: threshold', () => {
  it("prefers the channel's own", () => {
    const global = globalSettings({});
    assert.deepEqual(resolveThreshold({ settings: {} }, global), { ratio: 0.7, source: 'global' });
    assert.deepEqual(resolveThreshold({ settings: { compaction_threshold: 0.5 } }, global), {
      ratio: 0.5,
      source: 'channel',
    });
  });
});
