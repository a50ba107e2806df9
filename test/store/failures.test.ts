import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { describe, it } from 'node:test';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { upgraded } from '../../lib/store/items.ts';
import { storeOn } from '../support/dynamo.ts';
import { MemoryTable } from '../support/memory-table.ts';

const CHANNEL = { ownerId: 'ann', title: 't', type: 'direct' as const, settings: {} };

/** A store whose engine gives one answer to everything, or is not there at all. */
async function answering(status: number, body: object, use: (port: number) => Promise<void>): Promise<void> {
  const server = createServer((_, response) => {
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' }).end(JSON.stringify(body));
  });
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address ? address.port : 0);
    });
  });
  try {
    await use(port);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

function storeAt(port: number) {
  const client = new DynamoDBClient({
    endpoint: `http://127.0.0.1:${port}`,
    region: 'us-east-1',
    credentials: { accessKeyId: 'x', secretAccessKey: 'x' },
    maxAttempts: 1,
  });
  return storeOn(DynamoDBDocumentClient.from(client), 'table');
}

describe('an engine that fails', () => {
  it('throttles: the caller may try again', () =>
    answering(400, { __type: 'com.amazonaws.dynamodb.v20120810#ThrottlingException' }, async (port) => {
      await assert.rejects(storeAt(port).getChannel('c'), { code: 'store_busy', retryable: true });
    }));

  it('is not there: the caller may try again', async () => {
    let gone = 0;
    await answering(200, {}, async (port) => {
      gone = port;
    });
    await assert.rejects(storeAt(gone).getChannel('c'), { code: 'store_busy', retryable: true });
  });

  it('refuses the request itself: that is a fault of ours, and stays what it is', () =>
    answering(400, { __type: 'com.amazon.coral.validate#ValidationException' }, async (port) => {
      await assert.rejects(storeAt(port).getChannel('c'), { name: 'ValidationException' });
    }));

  it('an endless conflict ends as one that may be tried again', async () => {
    const table = new MemoryTable();
    const id = (await storeOn(table.client(), 'm').createChannel(CHANNEL)).id;
    const conflicting = table.client(async (command, send) => {
      if (command !== 'TransactWriteCommand') return send();
      const name = 'TransactionConflictException';
      const { TransactionConflictException } = await import('@aws-sdk/client-dynamodb');
      throw new TransactionConflictException({ message: name, $metadata: {} });
    });
    const append = storeOn(conflicting, 'm').append({
      channelId: id,
      userId: 'ann',
      role: 'user',
      content: 'q',
    });
    await assert.rejects(append, { code: 'contention', retryable: true });
  });
});

describe('an import that crashes', () => {
  it('leaves no channel, after whichever request', async () => {
    const messages = Array.from({ length: 60 }, (_, n) => ({
      ref: `${n}`,
      parentRef: n === 0 ? null : `${n - 1}`,
      role: 'user' as const,
      content: 'x',
    }));
    let crashed = 0;
    for (let last = 0; ; last += 1) {
      const table = new MemoryTable();
      let requests = 0;
      const client = table.client(async (_, send) => {
        requests += 1;
        if (requests > last) throw new Error('crash');
        return send();
      });
      const done = await storeOn(client, 'm')
        .importChannel(CHANNEL, messages, null)
        .then(
          () => true,
          () => false,
        );
      const { channels } = await storeOn(table.client(), 'm').listChannels('ann', { limit: 10 });
      assert.equal(channels.length, done ? 1 : 0);
      if (done) break;
      crashed += 1;
    }
    assert.ok(crashed >= 4, `${crashed} crashes`);
  });
});

describe('versions of items', () => {
  const upgrades = {
    1: ({ name, ...item }: Record<string, unknown>) => ({ ...item, title: name }),
    2: (item: Record<string, unknown>) => ({ ...item, archived: false }),
  };

  it('an older item is read as if it were of today', () => {
    const item = { v: 1, name: 'old' };
    assert.deepEqual(upgraded(item, 3, upgrades), { v: 3, title: 'old', archived: false });
    assert.deepEqual(item, { v: 1, name: 'old' }, 'what was read is not touched');
    assert.deepEqual(upgraded({ v: 3, title: 't' }, 3, upgrades), { v: 3, title: 't' });
  });

  it('an item of a newer release, or of none, is refused', () => {
    for (const v of [4, undefined, '1', 0]) {
      assert.throws(() => upgraded({ v }, 3, upgrades), { code: 'unknown_item_version' });
    }
  });
});
