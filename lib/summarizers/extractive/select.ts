import { MaxHeap } from './heap.ts';
import type { Source } from './sources.ts';
import { bestOffer, type Offer, type Span } from './spans.ts';
import type { Corpus, Unit } from './units.ts';
import type { Weights } from './weights.ts';

export type Choice = Span & { readonly unit: number };

/** Costs in tokens: of each unit's text, and of a label with its line break. */
export type Costs = { readonly units: readonly number[]; readonly label: number };

/** Below this a fragment says nothing that is not already said. */
const MIN_RATIO = 1e-6;

export function costsOf(
  { units }: Corpus,
  sources: readonly Source[],
  estimate: (text: string) => number,
): Costs {
  const labels = new Set(sources.map(({ label }) => label));
  const total = [...labels].reduce((sum, label) => sum + estimate(`${label}: \n`), 0);
  return { units: units.map(({ text }) => estimate(text)), label: total / Math.max(1, labels.size) };
}

/**
 * Greedy choice of fragments by worth for the token. The worth of a term falls with each mention, so repetition loses
 * by itself; and because worth only falls, a stale entry of the heap is an upper bound and only the top is computed
 * anew.
 */
export class Selection {
  readonly #corpus: Corpus;
  readonly #weights: Weights;
  readonly #costs: Costs;
  readonly #heard: Uint16Array;
  readonly #heap = new MaxHeap();
  readonly #taken = new Map<number, Span[]>();
  readonly #opened = new Set<number>();
  #tooLarge: number[] = [];
  #evaluations = 0;

  constructor(corpus: Corpus, weights: Weights, costs: Costs) {
    this.#corpus = corpus;
    this.#weights = weights;
    this.#costs = costs;
    this.#heard = new Uint16Array(corpus.terms.length);
    for (const unit of corpus.units.keys()) this.#offer(unit);
  }

  /** How often a unit was evaluated so far: the work done. */
  get evaluations(): number {
    return this.#evaluations;
  }

  /** Takes the best fragment that fits in `room` tokens; undefined when none does. */
  next(room: number): { choice: Choice; cost: number } | undefined {
    for (;;) {
      const unit = this.#heap.pop();
      if (unit === undefined) return undefined;
      const best = this.#evaluate(unit, room);
      if (best === undefined) this.#tooLarge.push(unit);
      else if (best.ratio < this.#heap.topKey) this.#heap.push(unit, best.ratio);
      else if (best.ratio > MIN_RATIO) {
        this.#take(unit, best);
        return { choice: { unit, from: best.from, to: best.to }, cost: best.cost };
      }
    }
  }

  /** Brings back what did not fit when there was less room. */
  reconsider(): void {
    const units = this.#tooLarge;
    this.#tooLarge = [];
    for (const unit of units) this.#offer(unit);
  }

  #offer(unit: number): void {
    const best = this.#evaluate(unit, Number.POSITIVE_INFINITY);
    if (best !== undefined) this.#heap.push(unit, best.ratio);
  }

  #take(index: number, { from, to }: Span): void {
    const unit = this.#corpus.units[index];
    if (unit === undefined) return;
    for (const term of unit.terms.slice(from, to)) this.#heard[term] = (this.#heard[term] ?? 0) + 1;
    this.#opened.add(unit.source);
    this.#taken.set(index, [...(this.#taken.get(index) ?? []), { from, to }]);
    this.#offer(index);
  }

  #evaluate(index: number, room: number): Offer | undefined {
    this.#evaluations += 1;
    const unit = this.#corpus.units[index];
    if (unit === undefined) return undefined;
    return bestOffer(unit, {
      gains: this.#gains(unit),
      taken: this.#taken.get(index) ?? [],
      density: (this.#costs.units[index] ?? 0) / Math.max(1, unit.text.length),
      room,
      opening: this.#opened.has(unit.source) ? 0 : this.#costs.label,
    });
  }

  #gains({ terms, factor }: Unit): number[] {
    const { first, again } = this.#weights;
    const here = new Map<number, number>();
    return terms.map((term) => {
      const before = here.get(term) ?? 0;
      here.set(term, before + 1);
      return factor * (first[term] ?? 0) * (again[term] ?? 0) ** ((this.#heard[term] ?? 0) + before);
    });
  }
}
