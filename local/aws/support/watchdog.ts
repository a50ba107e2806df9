import { spawn } from 'node:child_process';

/**
 * Ends what this process started when this process dies without a chance to do so (kill -9). It reads the pids from a
 * pipe; the pipe's end is the parent's end.
 */
export type Watchdog = {
  watch(pid: number): void;
  forget(pid: number): void;
  stop(): void;
};

const SCRIPT = `
live=' '
while read -r what pid; do
  if [ "$what" = + ]; then live="$live$pid "
  else case "$live" in *" $pid "*) live="\${live%% $pid *} \${live#* $pid }";; esac
  fi
done
for pid in $live; do kill -9 "$pid" 2>/dev/null; done
`;

/** Starts the watchdog in a process group of its own, so that Ctrl-C in a terminal does not end it first. */
export function startWatchdog(): Watchdog {
  const child = spawn('/bin/sh', ['-c', SCRIPT], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  child.unref();
  // Without a shell the children still end with their channel; only a database could stay.
  child.on('error', () => undefined);
  child.stdin.on('error', () => undefined);
  (child.stdin as typeof child.stdin & { unref?: () => void }).unref?.();
  return {
    watch: (pid) => void child.stdin.write(`+ ${pid}\n`),
    forget: (pid) => void child.stdin.write(`- ${pid}\n`),
    stop: () => void child.stdin.end(),
  };
}
