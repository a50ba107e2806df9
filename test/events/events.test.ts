import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { createTrigger } from '../../lib/events/trigger.ts';
import type { CompactionMessage } from '../../lib/ports.ts';
import { newId } from '../../lib/treepath/ids.ts';
import { startEngine, startStore, type TestStore } from '../support/dynamo.ts';

let store: TestStore;
let channelId: string;
const sent: CompactionMessage[] = [];

before(async () => {
  store = await startStore(await startEngine());
  channelId = (await store.createChannel({ ownerId: 'ann', title: 't', type: 'direct', settings: {} })).id;
});

const quiet = () => undefined;
const send = (type: string, detail: unknown) =>
  createTrigger({
    store,
    queue: {
      send: async (messages) => {
        sent.push(...messages);
        return [];
      },
    },
    newId: () => newId(store.now),
    logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
  })({ 'detail-type': type, detail });

describe('events of the bus', () => {
  it('C5: a request becomes a queue message for the owner, its correlation id kept', async () => {
    await send('compaction.request', { session_id: channelId, auto: true, correlation_id: 'corr' });
    assert.deepEqual(sent.at(-1), {
      channel_id: channelId,
      user_id: 'ann',
      trigger: 'auto',
      correlation_id: 'corr',
    });
    await send('compaction.request', { session_id: channelId });
    assert.equal(sent.at(-1)?.trigger, 'manual');
  });

  it('C7: a turn that filled 80 % of the window asks for a compaction, one below does not', async () => {
    const before = sent.length;
    await send('response.generation', { session_id: channelId, prompt_tokens: 102_399 });
    assert.equal(sent.length, before);
    await send('response.generation', { session_id: channelId, prompt_tokens: 102_400 });
    assert.equal(sent.length, before + 1);
  });

  it('refuses what is malformed, unknown or foreign, and queues nothing', async () => {
    const before = sent.length;
    await assert.rejects(send('compaction.request', { auto: 'yes' }), {
      code: 'invalid_event',
      message: /session_id/,
    });
    await assert.rejects(send('response.generation', { session_id: channelId, prompt_tokens: -1 }), {
      code: 'invalid_event',
    });
    await assert.rejects(send('something.else', {}), { code: 'unknown_event' });
    await assert.rejects(send('compaction.request', { session_id: 'nowhere' }), {
      code: 'channel_not_found',
    });
    assert.equal(sent.length, before);
  });
});
