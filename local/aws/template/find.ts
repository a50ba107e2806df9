import { UnsupportedTemplateError } from '../errors.ts';

/** The part that a property names. Throws `UnsupportedTemplateError` when it is not one that runs here. */
export function find<T>(
  where: string,
  what: string,
  wanted: string,
  parts: readonly T[],
  namesOf: (part: T) => readonly string[],
): T {
  const part = parts.find((candidate) => namesOf(candidate).includes(wanted));
  if (part === undefined)
    throw new UnsupportedTemplateError(
      where,
      `it names ${wanted}, and no such ${what} of this stack runs here.`,
    );
  return part;
}
