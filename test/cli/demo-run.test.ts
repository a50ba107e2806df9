import assert from 'node:assert/strict';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { EmbeddedAws, LogEntry } from '../../local/aws/index.ts';
import { runDemo } from '../../local/cli/demo-run.ts';
import { isScan } from '../../local/cli/log-text.ts';
import { startStack } from '../../local/cli/stack.ts';

const SUMMARY =
  'Ticket T-31 touches /srv/app/1.ts; ticket T-62 touches /srv/app/2.ts. All points stand, none is open.';

/** A model whose first answer never comes. */
let calls = 0;
let firstCall: () => void;
const called = new Promise<void>((done) => {
  firstCall = done;
});

function answer(response: ServerResponse): void {
  calls += 1;
  if (calls === 1) {
    firstCall();
    return;
  }
  response.setHeader('content-type', 'application/json');
  const content = [{ type: 'text', text: SUMMARY }];
  const usage = { input_tokens: 900, output_tokens: 30 };
  const said = { id: 'msg_1', type: 'message', role: 'assistant', model: 'test-model', content, usage };
  response.end(JSON.stringify({ ...said, stop_reason: 'end_turn', stop_sequence: null }));
}

const model = createServer((_, response) => answer(response));
let aws: EmbeddedAws;
let scans = 0;
const count = (entry: LogEntry): void => {
  if (isScan(entry)) scans += 1;
};
before(async () => {
  await new Promise<void>((ready) => model.listen(0, '127.0.0.1', ready));
  const { port } = model.address() as AddressInfo;
  aws = await startStack(
    { schedule: { minuteMs: 500 }, onLog: count },
    { MODEL_BASE_URL: `http://127.0.0.1:${port}`, MODEL_ID: 'test-model', ANTHROPIC_API_KEY: 'test' },
  );
});
after(async () => {
  await aws?.stop();
  model.close();
  model.closeAllConnections();
});

const messages = Array.from({ length: 24 }, (_, n) => ({
  ref: `${n}`,
  parentRef: n === 0 ? null : `${n - 1}`,
  role: n % 2 === 0 ? ('user' as const) : ('assistant' as const),
  content: `Point ${n}: ticket T-${n * 31} touches /srv/app/${n}.ts. ${'The rest of the point is told at length here. '.repeat(20)}`,
}));

describe('the main job', () => {
  it('a compactor that is killed at work loses nothing: the queue brings the message back', async () => {
    const compactor = aws.functions.compactor;
    assert.ok(compactor);
    const running = runDemo(aws, [{ title: 'T', messages, currentRef: '23' }], {
      window: 4_000,
      progress: () => {},
      scans: () => scans,
    });
    await called;
    const [pid] = compactor.pids();
    assert.ok(pid);
    process.kill(pid, 'SIGKILL');

    const [channel] = await running;
    assert.deepEqual(
      [channel?.trigger, channel?.model, channel?.summary, channel?.messages, channel?.summarizedCount],
      ['auto', 'test-model', SUMMARY, 24, 22],
    );
    assert.equal(calls, 2);
  });
});
