import { readConversations, sampleFiles } from './conversations.ts';
import { DEMO_HELP, parseDemoArgs } from './demo-args.ts';
import { jsonReport, textReport } from './demo-report.ts';
import { runDemo } from './demo-run.ts';
import { runMain } from './fail.ts';
import { isScan, isWarning, logText } from './log-text.ts';
import { startStack } from './stack.ts';

/** A minute of the schedule lasts this long here, so that the demo does not wait for one. */
const MINUTE_MS = 1_000;

await runMain(async () => {
  const options = parseDemoArgs(process.argv.slice(2));
  if (options.help) {
    process.stdout.write(`${DEMO_HELP}\n`);
    return;
  }
  const progress = (line: string): void => void process.stderr.write(`· ${line}\n`);
  const startedAt = performance.now();
  const conversations = await readConversations(
    options.inputs.length > 0 ? options.inputs : await sampleFiles(),
  );

  let scans = 0;
  progress('synthesizing the stack and starting it in memory');
  const aws = await startStack({
    schedule: { minuteMs: MINUTE_MS },
    onLog: (entry) => {
      if (isScan(entry)) scans += 1;
      if (isWarning(entry)) progress(logText(entry));
    },
  });
  const stop = async (): Promise<void> => {
    progress('stopping');
    await aws.stop();
    process.exit(130);
  };
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    const channels = await runDemo(aws, conversations, {
      window: options.window,
      progress,
      scans: () => scans,
    });
    const seconds = (performance.now() - startedAt) / 1_000;
    const report = options.json ? jsonReport : textReport;
    process.stdout.write(`${report(channels, scans, seconds)}\n`);
  } finally {
    await aws.stop();
    process.removeListener('SIGINT', stop).removeListener('SIGTERM', stop);
  }
});
