import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { createApi } from '../../local/cli/api-client.ts';
import { summarizeByHand } from '../../local/cli/by-hand.ts';

type Reply = readonly [status: number, body: unknown];

let replies: Reply[] = [];
const asked: string[] = [];
const server = createServer(({ method, url }, response) => {
  asked.push(`${method} ${url}`);
  const [status, body] = replies.shift() ?? [500, 'nothing more to say'];
  response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));
});
let url = '';
before(async () => {
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
after(() => {
  server.close();
  server.closeAllConnections();
});

async function pressed(...said: Reply[]): Promise<string[]> {
  replies = said;
  asked.length = 0;
  await summarizeByHand(createApi(url, 'token'), 'c');
  return asked;
}

describe('summarizing by the button', () => {
  it('is done with the answer', async () => {
    assert.deepEqual(await pressed([200, { summary_id: 's' }]), ['POST /channels/c/summarize']);
  });

  it('waits for the queue where that does it', async () => {
    assert.deepEqual(
      await pressed(
        [202, { id: 'j', status: 'queued' }],
        [200, { status: 'running' }],
        [200, { status: 'done' }],
      ),
      ['POST /channels/c/summarize', 'GET /channels/c/compactions/j', 'GET /channels/c/compactions/j'],
    );
  });

  it('tells why the queue could not', async () => {
    const error = { code: 'no_gain', message: 'It would not get smaller.' };
    await assert.rejects(
      pressed([202, { id: 'j', status: 'queued' }], [200, { status: 'failed', error }]),
      error,
    );
  });

  it('tells what a front said that speaks no JSON', async () => {
    await assert.rejects(pressed([502, '<html>bad gateway</html>']), {
      code: 'unexpected',
      message: '<html>bad gateway</html>',
      status: 502,
    });
  });
});
