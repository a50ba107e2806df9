import { type Segment, segments } from './segment.ts';
import type { Source } from './sources.ts';
import { type Word, type WordKind, wordsOf } from './words.ts';

/** A segment with its words, as the selection sees it. */
export type Unit = {
  /** Index of the source it comes from. */
  readonly source: number;
  readonly text: string;
  readonly whole: boolean;
  readonly question: boolean;
  readonly words: readonly Word[];
  /** Term number of each word. */
  readonly terms: readonly number[];
  /** Multiplies the worth of everything in the unit. */
  readonly factor: number;
};

export type Term = {
  readonly key: string;
  readonly kind: WordKind;
  /** Occurrences. */
  count: number;
  /** Occurrences with a capital letter where no sentence starts. */
  capitals: number;
  /** Units that hold it. */
  units: number;
  /** Stretches of the conversation that hold it. */
  blocks: number;
  lastUnit: number;
  lastBlock: number;
};

export type Corpus = {
  readonly units: readonly Unit[];
  readonly terms: readonly Term[];
  /** Stretches of the conversation. */
  readonly blocks: number;
};

/** Units in one stretch: over these it shows whether a word belongs to a subject or to all talk. */
const BLOCK_UNITS = 30;
/** What was asked long ago says less than its answer. */
const QUESTION_FACTOR = 0.6;
/** A few words without a name, number or identifier are mostly courtesy. */
const COURTESY_WORDS = 3;
const COURTESY_FACTOR = 0.4;
/** What must not or cannot be is a limit that the rest depends on. */
const NEGATED_FACTOR = 1.2;
const QUESTION = /[?？؟;]["'”’)»]*$/u;

const isCourtesy = (words: readonly Word[]): boolean =>
  words.length <= COURTESY_WORDS &&
  words.every(({ kind, capital, negation }) => kind === 'word' && !capital && !negation);

class TermTable {
  readonly terms: Term[] = [];
  readonly #numbers = new Map<string, number>();

  /** Counts a word of a unit; returns the number of its term. */
  note({ key, kind, capital }: Word, unit: number): number {
    const number = this.#numbers.get(key) ?? this.terms.length;
    const term = this.terms[number] ?? this.#add(key, kind);
    const block = Math.floor(unit / BLOCK_UNITS);
    term.count += 1;
    if (capital) term.capitals += 1;
    if (term.lastUnit !== unit) term.units += 1;
    if (term.lastBlock !== block) term.blocks += 1;
    term.lastUnit = unit;
    term.lastBlock = block;
    return number;
  }

  #add(key: string, kind: WordKind): Term {
    const term = { key, kind, count: 0, capitals: 0, units: 0, blocks: 0, lastUnit: -1, lastBlock: -1 };
    this.#numbers.set(key, this.terms.length);
    this.terms.push(term);
    return term;
  }
}

function factorOf(segment: Segment, words: readonly Word[], question: boolean): number {
  const courtesy = !segment.code && isCourtesy(words) ? COURTESY_FACTOR : 1;
  const negated = words.some(({ negation }) => negation) ? NEGATED_FACTOR : 1;
  return courtesy * negated * (question ? QUESTION_FACTOR : 1);
}

/** Splits the sources into units and counts their terms; segments without a word are left out. */
export function buildCorpus(sources: readonly Source[]): Corpus {
  const table = new TermTable();
  const units: Unit[] = [];
  for (const [index, source] of sources.entries()) {
    const parts = source.whole
      ? [{ text: source.text.trim(), whole: true, code: true }]
      : segments(source.text);
    for (const part of parts) {
      const words = wordsOf(part.text);
      if (words.length === 0) continue;
      const question = QUESTION.test(part.text);
      const terms = words.map((word) => table.note(word, units.length));
      const factor = source.factor * factorOf(part, words, question);
      units.push({ source: index, text: part.text, whole: part.whole, question, words, terms, factor });
    }
  }
  return { units, terms: table.terms, blocks: Math.ceil(units.length / BLOCK_UNITS) };
}
