import type { Unit } from './units.ts';

/** Words `from` to `to` (exclusive) of a unit, with what taking them costs in tokens and gains per token. */
export type Span = { readonly from: number; readonly to: number };
export type Offer = Span & { readonly cost: number; readonly ratio: number };

export type Terms = {
  /** Worth of each word now. */
  readonly gains: readonly number[];
  readonly taken: readonly Span[];
  /** Tokens of a character of this unit. */
  readonly density: number;
  /** Tokens that the first fragment of a source costs on top: its label. */
  readonly opening: number;
  /** Tokens that an offer may cost. */
  readonly room: number;
};

/** A shorter fragment tells too little, unless it is all there is. */
const MIN_WORDS = 3;
const SEPARATOR_TOKENS = 0.5;
/** Tokens added before gains are compared: a longer fragment reads better than several short ones. */
const FRAGMENT = 2;
/** The same for an edge in the middle of a clause; a start without its subject is worse than an open end. */
const RAGGED_START = 2;
const RAGGED_END = 1;
const NEGATION_BEFORE = 5;
const NEGATION_AFTER = 2;
const CLAUSE_END = /[,;:)!?.…"”]\s*$|\s[-–—]\s*$/u;

const wordText = ({ words, text }: Unit, at: number): string =>
  text.slice(words[at]?.start, words[at + 1]?.start ?? words[at]?.end);

const endsClause = (unit: Unit, at: number): boolean =>
  at === unit.words.length - 1 || CLAUSE_END.test(wordText(unit, at));

/** Where a fragment may start and end without saying the opposite of its sentence, and where clauses end. */
type Edges = { readonly starts: boolean[]; readonly ends: boolean[]; readonly clause: boolean[] };

function edgesOf(unit: Unit): Edges {
  const clause = unit.words.map((_, at) => endsClause(unit, at));
  const starts: boolean[] = [];
  const ends: boolean[] = unit.words.map((_, at) => !unit.question || at === unit.words.length - 1);
  let negated = Number.NEGATIVE_INFINITY;
  for (const [at, word] of unit.words.entries()) {
    starts.push(at - negated > NEGATION_BEFORE);
    if (word.negation) {
      negated = at;
      for (let before = at - 1; before >= at - NEGATION_AFTER && clause[before] === false; before -= 1)
        ends[before] = false;
    }
    if (clause[at]) negated = Number.NEGATIVE_INFINITY;
  }
  return { starts, ends, clause };
}

function wholeOffer(unit: Unit, { gains, taken, density, opening, room }: Terms): Offer | undefined {
  if (taken.length > 0) return undefined;
  const gain = gains.reduce((sum, worth) => sum + worth, 0);
  const cost = unit.text.length * density + SEPARATOR_TOKENS + opening;
  if (cost > room) return undefined;
  return { from: 0, to: unit.words.length, cost, ratio: gain / (cost + FRAGMENT) };
}

/** The fragment of a unit, among the words not yet taken, that gains most for its tokens; undefined when none fits. */
export function bestOffer(unit: Unit, terms: Terms): Offer | undefined {
  if (unit.whole) return wholeOffer(unit, terms);
  const { words } = unit;
  const { gains, density, opening, room } = terms;
  const free = words.map((_, at) => !terms.taken.some(({ from, to }) => at >= from && at < to));
  const { starts, ends, clause } = edgesOf(unit);
  let best: Offer | undefined;
  for (let from = 0; from < words.length; from += 1) {
    const joinsLeft = from > 0 && free[from - 1] === false;
    if (!free[from] || !(starts[from] || joinsLeft)) continue;
    const raggedStart = from === 0 || joinsLeft || clause[from - 1] ? 0 : RAGGED_START;
    let gain = 0;
    for (let to = from; to < words.length && free[to]; to += 1) {
      gain += gains[to] ?? 0;
      const joins = joinsLeft || free[to + 1] === false;
      const count = to + 1 - from;
      if (!ends[to] || (count < MIN_WORDS && count < words.length && !joins)) continue;
      const length = (words[to]?.end ?? 0) - (words[from]?.start ?? 0);
      const cost = length * density + SEPARATOR_TOKENS + opening;
      if (cost > room) break;
      const raggedEnd = clause[to] || free[to + 1] === false ? 0 : RAGGED_END;
      const ratio = gain / (cost + FRAGMENT + raggedStart + raggedEnd);
      if (best === undefined || ratio > best.ratio) best = { from, to: to + 1, cost, ratio };
    }
  }
  return best;
}
