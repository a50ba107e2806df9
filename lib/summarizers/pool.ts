/**
 * Results in the order of the inputs, at most `limit` at a time. After a failure, or a result that `isLast`, nothing new
 * is begun; what runs is waited for, so that no call goes on unseen. Inputs that were not begun have no result. Throws
 * the first failure once everything has settled.
 */
export async function mapInPool<T, R>(
  inputs: readonly T[],
  limit: number,
  work: (input: T) => Promise<R>,
  isLast: (result: R) => boolean,
): Promise<R[]> {
  const results = new Map<number, R>();
  const failures: unknown[] = [];
  const queue = inputs.entries();
  let ended = false;

  const worker = async (): Promise<void> => {
    for (const [index, input] of queue) {
      if (ended) return;
      try {
        const result = await work(input);
        results.set(index, result);
        if (isLast(result)) ended = true;
      } catch (error) {
        failures.push(error);
        ended = true;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, inputs.length) }, worker));
  if (failures.length > 0) throw failures[0];
  return [...results].sort(([a], [b]) => a - b).map(([, result]) => result);
}
