/** Resolves after `ms`, or at once when `signal` aborts; never rejects. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done, { once: true });
  });
}

/** Resolves to whether `work` settled within `ms`. */
export async function settledWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  const abort = new AbortController();
  const late = pause(ms, abort.signal).then(() => false);
  const settled = work.then(
    () => true,
    () => true,
  );
  const result = await Promise.race([settled, late]);
  abort.abort();
  return result;
}
