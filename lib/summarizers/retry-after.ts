/** The longest wait before a retry within one call, in seconds; a fallback or the queue is better than a longer one. */
const MAX_WAIT_SECONDS = 5;

const positive = (value: string | null): number | undefined => {
  const number = Number(value ?? Number.NaN);
  return Number.isFinite(number) && number > 0 ? number : undefined;
};

/** Seconds after which a provider wants to be asked again, as its headers say; a date is not read. */
export function retryAfterSeconds(headers: unknown): number | undefined {
  if (!(headers instanceof Headers)) return undefined;
  const milliseconds = positive(headers.get('retry-after-ms'));
  return milliseconds === undefined ? positive(headers.get('retry-after')) : milliseconds / 1_000;
}

/** A `fetch` whose replies tell the SDK not to wait when the provider asks for a long wait, which it else would do. */
export const withoutLongWaits =
  (send: typeof fetch): typeof fetch =>
  async (input, init) => {
    const response = await send(input, init);
    const asksForLong =
      (retryAfterSeconds(response.headers) ?? 0) > MAX_WAIT_SECONDS ||
      /[a-z]/i.test(response.headers.get('retry-after') ?? '');
    if (response.ok || !asksForLong) return response;
    const headers = new Headers(response.headers);
    headers.set('x-should-retry', 'false');
    return new Response(response.body, { status: response.status, statusText: response.statusText, headers });
  };
