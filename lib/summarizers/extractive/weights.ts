import type { Corpus, Term } from './units.ts';

/** What each term is worth, and what is left of that with every further mention. */
export type Weights = { readonly first: Float64Array; readonly again: Float64Array };

const NUMBER_BOOST = 1.3;
/** For each part of an identifier: a path says as much as its parts, and costs as much. */
const IDENTIFIER_BOOST = 1.3;
const MAX_PARTS = 8;
const PART = /[\p{L}\p{M}]+|\p{N}+/gu;
const NAME_BOOST = 1.5;
const ASKED_BOOST = 4;
const AGAIN = 0;
/** What was asked for is worth hearing more than once. */
const ASKED_AGAIN = 0.7;
const RETURNED = 0.25;
/** Rarity at which a word is taken for grammar: it stands in every few units. */
const GRAMMAR = 0.2;
const FULL_LENGTH = 5;
const MIN_BLOCKS = 4;
const UNSPACED_KEY = /^[^\p{L}]*[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

/** How far a word keeps to few stretches of talk: 1 when spread like chance, more when it belongs to a subject. */
function burstiness(term: Term, blocks: number): number {
  if (term.count < 2 || blocks < MIN_BLOCKS) return 1;
  const expected = blocks * (1 - Math.exp(-term.count / blocks));
  return expected / term.blocks;
}

function boost(term: Term): number {
  if (term.kind === 'number') return NUMBER_BOOST;
  if (term.kind === 'identifier')
    return IDENTIFIER_BOOST * Math.min(MAX_PARTS, term.key.match(PART)?.length ?? 1);
  return term.capitals * 2 > term.count ? NAME_BOOST : 1;
}

/** Short words of alphabets are mostly grammar; numbers and syllabic or ideographic scripts are short by nature. */
function fullness({ key, kind }: Term): number {
  if (kind !== 'word') return 1;
  const length = UNSPACED_KEY.test(key) ? key.length * 2.5 : key.length;
  return Math.sqrt(Math.min(1, length / FULL_LENGTH));
}

/**
 * Weights from this conversation alone, so that they hold in any language: rare among its units yet returned to,
 * bound to a subject rather than spread over all talk; identifiers, numbers and names more; `asked` terms most.
 */
export function termWeights({ terms, units, blocks }: Corpus, asked: ReadonlySet<string>): Weights {
  const total = units.length;
  const first = Float64Array.from(terms, (term) => {
    const rarity = Math.log((total + 1) / (term.units + 0.5)) / Math.log(total + 2);
    const content = Math.max(0.01, rarity - GRAMMAR);
    const returned = 1 + RETURNED * Math.log2(term.count);
    const own = content * returned * burstiness(term, blocks) * boost(term) * fullness(term);
    return asked.has(term.key) ? own * ASKED_BOOST : own;
  });
  return { first, again: Float64Array.from(terms, ({ key }) => (asked.has(key) ? ASKED_AGAIN : AGAIN)) };
}
