import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { eventually, isAlive, lambda, type Started, start } from './support.ts';

const CODE = {
  echo: `let count = 0;
    export const handler = async (event, context) => ({
      event, count: ++count, env: process.env, pid: process.pid,
      context: { ...context, remaining: context.getRemainingTimeInMillis() },
    });`,
  steps: `export const handler = async ({ step, ms }) => {
      if (step === 'throw') throw Object.assign(new RangeError('out of range'), {});
      if (step === 'exit') process.exit(3);
      if (step === 'later') setTimeout(() => { throw new Error('unhandled'); }, 1);
      if (step === 'sleep') await new Promise((done) => setTimeout(done, ms));
      if (step === 'block') for (;;);
      if (step === 'large') return 'x'.repeat(6 * 1024 * 1024);
      if (step === 'print') { console.log('plain'); console.log(JSON.stringify({ level: 'WARN', message: 'structured', n: 1 })); }
      if (step === 'chatter') { process.send('hello'); process.send({ requestId: 'x' }); process.send(null); return () => 1; }
      if (step === 'circle') { const circle = {}; circle.self = circle; return circle; }
      if (step === 'metrics') console.log(JSON.stringify({ _aws: { Timestamp: 1 }, scans: 1 }));
      await new Promise((done) => setTimeout(done, step === 'later' ? 5_000 : 0));
      return process.pid;
    };`,
  broken: `throw new Error('cannot start');`,
  exportless: `export const other = 1;`,
};

describe('a function', () => {
  let aws: Started;

  before(async () => {
    aws = await start(
      {
        Echo: lambda('echo', {
          FunctionName: 'echo',
          MemorySize: 256,
          Timeout: 20,
          Environment: { Variables: { COLOR: 'blue', POWERTOOLS_SERVICE_NAME: 'echo' } },
        }),
        Steps: lambda('steps', { Timeout: 1 }),
        Limited: lambda('steps', { Timeout: 10, ReservedConcurrentExecutions: 1 }),
        Off: lambda('echo', { ReservedConcurrentExecutions: 0 }),
        Broken: lambda('broken'),
        Exportless: lambda('exportless'),
      },
      CODE,
      { environment: { KEY: 'of the person', COLOR: 'red' } },
    );
  });

  type Echo = {
    event: unknown;
    count: number;
    pid: number;
    env: Record<string, string>;
    context: Record<string, unknown>;
  };
  async function echo(event: unknown): Promise<Echo> {
    const result = await aws.invoke('echo', event);
    assert.ok(result.ok);
    return result.payload as Echo;
  }

  test('gets exactly the environment of the template, of Lambda and of the person who starts', async () => {
    const { env } = await echo({});
    assert.equal(env.COLOR, 'blue');
    assert.equal(env.KEY, 'of the person');
    assert.equal(env.AWS_ENDPOINT_URL, aws.gatewayUrl);
    assert.equal(env.AWS_ACCESS_KEY_ID, 'Echo');
    assert.equal(env.AWS_LAMBDA_FUNCTION_NAME, 'echo');
    assert.equal(env.AWS_REGION, 'us-east-1');
    const others = Object.keys(env).filter((key) => !/^(AWS_|LAMBDA_TASK_ROOT|_HANDLER|TZ|LANG)/.test(key));
    assert.deepEqual(others.sort(), ['COLOR', 'KEY', 'POWERTOOLS_SERVICE_NAME']);
  });

  test('gets the event and a Lambda context, and its environment is used again', async () => {
    const first = await echo({ n: 1 });
    const second = await echo({ n: 2 });
    assert.deepEqual(second.event, { n: 2 });
    assert.equal(second.pid, first.pid);
    assert.equal(second.count, first.count + 1);
    const { context } = second;
    assert.equal(context.functionName, 'echo');
    assert.equal(context.memoryLimitInMB, '256');
    assert.equal(context.invokedFunctionArn, 'arn:aws:lambda:us-east-1:000000000000:function:echo');
    assert.notEqual(context.awsRequestId, first.context.awsRequestId);
    assert.ok(Number(context.remaining) > 15_000 && Number(context.remaining) <= 20_000);
  });

  test('that throws fails with its error and keeps its environment', async () => {
    const before = await aws.invoke('Steps', {});
    assert.deepEqual(await aws.invoke('Steps', { step: 'throw' }), {
      ok: false,
      errorType: 'RangeError',
      errorMessage: 'out of range',
    });
    assert.deepEqual(await aws.invoke('Steps', {}), before);
  });

  test('over its time limit is ended, even when it never yields', async () => {
    for (const event of [{ step: 'sleep', ms: 60_000 }, { step: 'block' }]) {
      const invocation = aws.invoke('Steps', event);
      const pid = await eventually(() => aws.functions.Steps?.pids()[0]);
      const result = await invocation;
      assert.deepEqual(result, {
        ok: false,
        errorType: 'Sandbox.Timedout',
        errorMessage: 'Task timed out after 1.00 seconds',
      });
      await eventually(() => !isAlive(pid) || undefined);
    }
  });

  for (const step of ['exit', 'later'])
    test(`whose process ends (${step}) fails, and the next invocation has a new one`, async () => {
      const before = await aws.invoke('Limited', {});
      const result = await aws.invoke('Limited', { step });
      assert.ok(!result.ok && result.errorType === 'Runtime.ExitError', JSON.stringify(result));
      const after = await aws.invoke('Limited', {});
      assert.ok(before.ok && after.ok && before.payload !== after.payload);
    });

  test('killed from outside fails its invocation', async () => {
    const invocation = aws.invoke('Limited', { step: 'sleep', ms: 60_000 });
    const pid = await eventually(() =>
      aws.functions.Limited?.inFlight() ? aws.functions.Limited.pids()[0] : undefined,
    );
    process.kill(pid, 'SIGKILL');
    const result = await invocation;
    assert.ok(!result.ok);
    assert.match(result.errorMessage, /SIGKILL/);
  });

  test('over its reserved concurrency is throttled at once', async () => {
    const running = aws.invoke('Limited', { step: 'sleep', ms: 300 });
    const second = await aws.invoke('Limited', {});
    assert.ok(!second.ok && second.errorType === 'TooManyRequestsException');
    assert.ok((await running).ok);
    const off = await aws.invoke('Off', {});
    assert.ok(!off.ok && off.errorType === 'TooManyRequestsException');
    assert.deepEqual(aws.functions.Off?.pids(), []);
  });

  test('that cannot be loaded fails with the reason', async () => {
    const broken = await aws.invoke('Broken', {});
    assert.ok(!broken.ok);
    assert.equal(broken.errorMessage, 'cannot start');
    const exportless = await aws.invoke('Exportless', {});
    assert.ok(!exportless.ok);
    assert.match(exportless.errorMessage, /does not export a function named handler/);
  });

  test('may answer at most 6 MB', async () => {
    const result = await aws.invoke('Limited', { step: 'large' });
    assert.ok(!result.ok && result.errorType === 'Function.ResponseSizeTooLarge');
  });

  test('may answer what JSON has no word for, and use the channel to its parent', async () => {
    assert.deepEqual(await aws.invoke('Limited', { step: 'chatter' }), { ok: true, payload: null });
    const circle = await aws.invoke('Limited', { step: 'circle' });
    assert.ok(!circle.ok && circle.errorType === 'TypeError');
  });

  test('prints metrics that nobody has to read', async () => {
    await aws.invoke('Limited', { step: 'metrics' });
    const metrics = await eventually(() => aws.logs.find(({ data }) => data && '_aws' in data));
    assert.deepEqual([metrics.level, metrics.message], ['debug', 'metrics']);
  });

  test('prints lines that reach the log with level and fields', async () => {
    await aws.invoke('Limited', { step: 'print' });
    const plain = await eventually(() => aws.logs.find(({ message }) => message === 'plain'));
    assert.deepEqual([plain.source, plain.resource, plain.level], ['function', 'Limited', 'info']);
    const structured = await eventually(() => aws.logs.find(({ message }) => message === 'structured'));
    assert.equal(structured.level, 'warn');
    assert.equal(structured.data?.n, 1);
  });

  test('that is not there is an error with its name', async () => {
    await assert.rejects(aws.invoke('Nobody', {}), { code: 'function_not_found', message: /Nobody/ });
  });
});

test('many invocations at once wait for an environment instead of exhausting the machine', async () => {
  const aws = await start({ Fn: lambda('steps', { Timeout: 30 }) }, CODE);
  const results = await Promise.all(
    Array.from({ length: 14 }, () => aws.invoke('Fn', { step: 'sleep', ms: 20 })),
  );
  assert.ok(results.every(({ ok }) => ok));
  assert.ok((aws.functions.Fn?.pids().length ?? 99) <= 10);
});

const REFUSED: readonly [what: string, properties: object, message: RegExp][] = [
  ['another runtime', { Runtime: 'python3.13' }, /^Fn .*Runtime/],
  ['a property that is not known', { VpcConfig: {} }, /^Fn .*VpcConfig/],
  [
    'code that is not in the assembly',
    { Code: { S3Bucket: 'assets', S3Key: 'other.zip' } },
    /^Fn .*synthesize/,
  ],
  ['a handler that is no file', { Handler: 'main.handler' }, /^Fn .*main\.handler/],
  [
    'a variable that Lambda reserves',
    { Environment: { Variables: { AWS_REGION: 'x' } } },
    /^Fn .*AWS_REGION/,
  ],
];

for (const [what, properties, message] of REFUSED)
  test(`a function with ${what} is refused at the start`, async () => {
    await assert.rejects(start({ Fn: lambda('echo', properties) }, CODE), { name: /Error$/, message });
  });
