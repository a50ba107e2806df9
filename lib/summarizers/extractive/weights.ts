import type { Segment } from './segment.ts';
import { exactTermsOf, termsOf } from './terms.ts';

/** What an identifier, a number, a path or a URL weighs beside a word of the same rarity. */
const EXACT_FACTOR = 1.6;
const NAME_FACTOR = 1.3;
const ASKED_FACTOR = 2;
/** A term that stands in more than this share of the segments is grammar, not content. */
const COMMON_RATIO = 0.06;

export type Terms = { readonly bySegment: readonly (readonly string[])[]; readonly weight: ReadonlyMap<string, number> };

/** Words written with a capital inside a sentence: names, in the scripts that have capitals. */
function namesOf(text: string): Set<string> {
  const names = new Set<string>();
  for (const [match] of text.matchAll(/(?<=\p{Ll}[\p{P}\s]+)\p{Lu}[\p{L}\p{N}]+/gu)) for (const term of termsOf(match)) names.add(term);
  return names;
}

/**
 * Terms of every segment and what each is worth: rare in this conversation counts more, but a term that comes back a
 * few times counts more than one that is said once, and exact things count most.
 */
export function weighTerms(segments: readonly Segment[], instructions?: string): Terms {
  const bySegment = segments.map(({ text }) => [...termsOf(text)]);
  const frequency = new Map<string, number>();
  for (const terms of bySegment) for (const term of terms) frequency.set(term, (frequency.get(term) ?? 0) + 1);

  const exact = new Set<string>();
  const names = new Set<string>();
  for (const { text } of segments) {
    for (const term of exactTermsOf(text)) exact.add(term);
    for (const term of namesOf(text)) names.add(term);
  }
  const asked = instructions === undefined ? new Set<string>() : termsOf(instructions);
  const total = Math.max(segments.length, 1);
  const common = Math.max(3, total * COMMON_RATIO);
  const weight = new Map<string, number>();
  for (const [term, count] of frequency) {
    const rarity = Math.log(1 + total / count);
    const theme = 1 + 0.25 * Math.log(Math.min(count, 8));
    const grammar = count > common && !exact.has(term) ? 0.15 : 1;
    const kind = exact.has(term) ? EXACT_FACTOR : names.has(term) ? NAME_FACTOR : 1;
    weight.set(term, rarity * theme * grammar * kind * (asked.has(term) ? ASKED_FACTOR : 1));
  }
  return { bySegment, weight };
}
