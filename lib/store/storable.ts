import { InvalidInputError } from '../errors.ts';
import type { Key } from './keys.ts';
import { isPossible } from './keys.ts';

/** Largest number that the engine sorts by; a pressure beyond it is as pressed as can be. */
export const MAX_SORT_NUMBER = 1e15;

function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (Array.isArray(value)) return value.every(isStorable);
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).every(([name, inner]) => name.isWellFormed() && isStorable(inner));
  }
  return true;
}

/**
 * The engine keeps strings as UTF-8, which has no lone surrogates; they would come back as something else. Contents are
 * stored as JSON, which escapes them; whatever else holds one is refused: `InvalidInputError` (`invalid_text`). A key
 * that is too long for the engine is refused too (`id_too_long`).
 */
export function assertStorable(values: Readonly<Record<string, unknown>>): void {
  if (!isStorable(values)) {
    throw new InvalidInputError(
      'invalid_text',
      'A text holds half of a character (a lone UTF-16 surrogate) and could not be stored exactly. Nothing was stored.',
    );
  }
  const { PK, SK } = values;
  if (typeof PK === 'string' && typeof SK === 'string' && !isPossible({ PK, SK } satisfies Key)) {
    throw new InvalidInputError(
      'id_too_long',
      'An id or a key is longer than can be stored. Nothing was stored.',
    );
  }
}
