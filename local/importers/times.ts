/** Years that ISO 8601 writes with four digits; what an export says beyond them is no time. */
const isUsual = (time: number): boolean => time >= 0 && time < Date.UTC(10_000);

const isoOf = (time: number): string | undefined =>
  isUsual(time) ? new Date(time).toISOString() : undefined;

/** ISO 8601 of seconds since 1970; `undefined` when there is no such time. */
export const isoOfSeconds = (seconds: number | null | undefined): string | undefined =>
  typeof seconds === 'number' ? isoOf(seconds * 1_000) : undefined;

/** ISO 8601 of a time that is written out; `undefined` when it is none. */
export const isoOfText = (text: unknown): string | undefined =>
  typeof text === 'string' ? isoOf(Date.parse(text)) : undefined;
