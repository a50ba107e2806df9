import { pathToFileURL } from 'node:url';
import type { ChildMessage, ErrorBody, InvokeMessage } from './protocol.ts';

/**
 * An execution environment: a process that loads one function once and runs one invocation at a time.
 * Started by `environment.ts` with the handler's file and export as arguments.
 */
type Handler = (event: unknown, context: object) => unknown;

const [file = '', exportName = ''] = process.argv.slice(2);

// The runtime is gone, however it ended: nothing may go on working on its data.
process.on('disconnect', () => process.exit(0));

function describe(error: unknown): ErrorBody {
  if (!(error instanceof Error)) return { errorType: typeof error, errorMessage: String(error) };
  return { errorType: error.name, errorMessage: error.message, trace: error.stack?.split('\n') ?? [] };
}

function send(message: ChildMessage): Promise<void> {
  return new Promise((resolve) => {
    if (process.send) process.send(message, undefined, undefined, () => resolve());
    else resolve();
  });
}

async function load(): Promise<Handler> {
  const module = (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  const handler = module[exportName] ?? (module.default as Record<string, unknown> | undefined)?.[exportName];
  if (typeof handler !== 'function')
    throw new TypeError(`${file} does not export a function named ${exportName}`);
  return handler as Handler;
}

function contextOf({ requestId, deadline, functionArn }: InvokeMessage): object {
  const { env } = process;
  return {
    callbackWaitsForEmptyEventLoop: true,
    awsRequestId: requestId,
    functionName: env.AWS_LAMBDA_FUNCTION_NAME,
    functionVersion: env.AWS_LAMBDA_FUNCTION_VERSION,
    memoryLimitInMB: env.AWS_LAMBDA_FUNCTION_MEMORY_SIZE,
    logGroupName: env.AWS_LAMBDA_LOG_GROUP_NAME,
    logStreamName: env.AWS_LAMBDA_LOG_STREAM_NAME,
    invokedFunctionArn: functionArn,
    getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
  };
}

async function invoke(handler: Handler, message: InvokeMessage): Promise<void> {
  const { requestId } = message;
  try {
    const result = await handler(JSON.parse(message.payload), contextOf(message));
    // What JSON has no word for, such as a function, is nothing
    await send({ kind: 'result', requestId, payload: JSON.stringify(result) ?? 'null' });
  } catch (error) {
    console.error(JSON.stringify({ level: 'ERROR', message: 'Invoke Error', ...describe(error) }));
    await send({ kind: 'error', requestId, error: describe(error) });
  }
}

try {
  const handler = await load();
  process.on('message', (message: InvokeMessage) => void invoke(handler, message));
  await send({ kind: 'ready' });
} catch (error) {
  await send({ kind: 'init_failed', error: describe(error) });
  process.exit(1);
}
