import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';

const ROOT = resolve(import.meta.dirname, '../..');
let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'compaction-cli-'));
});
after(() => rm(folder, { recursive: true, force: true }));

type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

function start(
  program: string,
  args: readonly string[],
): { child: ChildProcess; ended: Promise<Ended>; said(text: string): Promise<void> } {
  const child = spawn(process.execPath, [join(ROOT, 'local/cli', program), ...args], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  const waiting: { text: string; done: () => void }[] = [];
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
    for (const { text, done } of waiting) if (stdout.includes(text)) done();
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const ended = new Promise<Ended>((done) => child.once('close', (code) => done({ code, stdout, stderr })));
  const said = (text: string): Promise<void> =>
    Promise.race([
      new Promise<void>((done) => waiting.push({ text, done })),
      ended.then(({ stdout: out, stderr: err }) =>
        assert.ok(out.includes(text), `ended without saying "${text}"\n${out}\n${err}`),
      ),
    ]);
  return { child, ended, said };
}

const run = (program: string, ...args: string[]): Promise<Ended> => start(program, args).ended;

async function file(name: string, content: unknown): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

const turns = (count: number, words: number) =>
  Array.from({ length: count * 2 }, (_, n) => ({
    role: n % 2 === 0 ? 'user' : 'assistant',
    content: `Point ${n}: ticket T-${n * 31} touches /srv/app/${n}.ts. ${'The rest of the point is told at length here. '.repeat(words)}`,
  }));

describe('npm run demo', () => {
  it('--json prints one document: what was over is under, the rest as it was', async () => {
    const long = await file('long.json', turns(12, 20));
    const short = await file(
      'short.jsonl',
      turns(2, 1)
        .map((line) => JSON.stringify(line))
        .join('\n'),
    );
    const { code, stdout, stderr } = await run(
      'demo.ts',
      '--json',
      '--window',
      '4000',
      '--input',
      long,
      '--input',
      short,
    );
    assert.equal(code, 0, stderr);
    const { channels, scans, seconds } = JSON.parse(stdout);
    assert.deepEqual(Object.keys(channels[0]).sort(), [
      'channel_id',
      'messages',
      'model',
      'summarized_count',
      'summary',
      'summary_id',
      'title',
      'tokens_after',
      'tokens_before',
      'trigger',
    ]);
    const [first, second] = channels;
    assert.deepEqual(
      [first.title, first.messages, first.trigger, first.model, first.summarized_count],
      ['long', 24, 'auto', 'extractive', 22],
    );
    assert.ok(
      first.tokens_before > 2_800 && first.tokens_after < 2_800 && first.summary.includes('T-'),
      JSON.stringify(first),
    );
    assert.deepEqual([second.summary_id, second.tokens_after], [null, second.tokens_before]);
    assert.ok(scans >= 1 && seconds > 0);
  });

  it('an input that is no conversation: exit 1, file, place and reason, nothing else', async () => {
    const good = await file('good.json', turns(2, 1));
    const bad = await file('bad.json', [
      { role: 'user', content: 'x' },
      { role: 'robot', content: 'y' },
    ]);
    assert.deepEqual(await run('demo.ts', '--input', good, '--input', bad), {
      code: 1,
      stdout: '',
      stderr: 'bad.json: [1].role: "robot" is no role that a conversation has\n',
    });
    const missing = await run('demo.ts', '--input', join(folder, 'nowhere.json'));
    assert.deepEqual([missing.code, /there is no such file/.test(missing.stderr)], [1, true]);
  });

  it('wrong options are told in one sentence', async () => {
    for (const args of [
      ['--window', 'ten'],
      ['--window', '5'],
      ['--windows', '5000'],
    ]) {
      const { code, stdout, stderr } = await run('demo.ts', ...args);
      assert.deepEqual([code, stdout, stderr.trim().split('\n').length], [1, '', 1], stderr);
    }
    assert.match((await run('demo.ts', '--help')).stdout, /--input FILE/);
  });
});

describe('npm start', () => {
  it('says what runs where, answers the lines that it prints, and ends with 0 on Ctrl-C', async () => {
    const { child, ended, said } = start('start.ts', ['--memory', '--port', '0']);
    await said('Ctrl-C stops it');
    child.kill('SIGINT');
    const { code, stdout, stderr } = await ended;
    assert.equal(code, 0, stderr);
    assert.match(stdout, /AWS::DynamoDB::Table/);
    assert.match(stdout, /^TOKEN=ey/m);
    assert.match(stdout, /curl -s .*\/summarize/);
    assert.match(stdout, /Stopped\.\n$/);
  });

  it('a taken port is one sentence and exit 1', async () => {
    const server = createServer();
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
    const { port } = server.address() as AddressInfo;
    const { code, stderr } = await run('start.ts', '--memory', '--port', `${port}`);
    server.close();
    assert.deepEqual([code, stderr.trim().split('\n').length], [1, 1], stderr);
    assert.match(stderr, new RegExp(`${port}`));
    assert.match((await run('start.ts', '--port', 'x')).stderr, /--port takes a number/);
  });
});
