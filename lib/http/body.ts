import { InvalidInputError, TooLargeError } from '../errors.ts';
import { InvalidRequestError } from './invalid-request.ts';

/** What Lambda takes as one request. */
export const MAX_BODY_BYTES = 6 * 1_024 * 1_024;
/** Deeper than any tool's input; what is deeper overflows the stack of whoever walks it. */
export const MAX_DEPTH = 64;

/** Level by level instead of by recursion, which the input could overflow. */
function isDeeperThan(levels: number, value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > levels) return true;
    level = level.flatMap((inner) =>
      typeof inner === 'object' && inner !== null ? Object.values(inner) : [],
    );
  }
  return false;
}

/**
 * The JSON of a body; an empty one counts as `{}`. Throws `TooLargeError` (`message_too_large`, above 6 MB),
 * `InvalidInputError` (`invalid_json`) and `InvalidRequestError` (nested too deep).
 */
export function parseBody(text: string): unknown {
  if (Buffer.byteLength(text) > MAX_BODY_BYTES) {
    throw new TooLargeError(
      'message_too_large',
      'A request may have 6 MB; this one has more. Nothing was stored.',
    );
  }
  if (text === '') return {};
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    // The parser's own message quotes the body.
    throw new InvalidInputError('invalid_json', 'The body is not valid JSON.');
  }
  if (isDeeperThan(MAX_DEPTH, json)) {
    throw new InvalidRequestError([
      { field: '(body)', message: `Objects and lists may be nested ${MAX_DEPTH} levels deep.` },
    ]);
  }
  return json;
}
