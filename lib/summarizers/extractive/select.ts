import type { Segment } from './segment.ts';
import type { Terms } from './weights.ts';

/** A second mention of a covered term is worth this share of its weight, a third this share of that. */
const AGAIN = 0.15;
/** Gain is divided by cost to this power: below 1, longer segments are not punished in full. */
const COST_POWER = 0.9;

type Entry = { readonly index: number; readonly score: number };

/** A max-heap by score; ties go to the earlier segment, so that the choice is the same every time. */
class Heap {
  readonly #entries: Entry[] = [];

  get size(): number {
    return this.#entries.length;
  }

  push(entry: Entry): void {
    const entries = this.#entries;
    let at = entries.push(entry) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!before(entries[at], entries[parent])) break;
      swap(entries, at, parent);
      at = parent;
    }
  }

  pop(): Entry | undefined {
    const entries = this.#entries;
    const top = entries[0];
    const last = entries.pop();
    if (top === undefined || last === undefined || entries.length === 0) return top;
    entries[0] = last;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      const right = left + 1;
      let first = at;
      if (left < entries.length && before(entries[left], entries[first])) first = left;
      if (right < entries.length && before(entries[right], entries[first])) first = right;
      if (first === at) return top;
      swap(entries, at, first);
      at = first;
    }
  }
}

const before = (a: Entry | undefined, b: Entry | undefined): boolean =>
  a !== undefined && b !== undefined && (a.score > b.score || (a.score === b.score && a.index < b.index));

function swap(entries: Entry[], a: number, b: number): void {
  const entry = entries[a] as Entry;
  entries[a] = entries[b] as Entry;
  entries[b] = entry;
}

/**
 * Segments that cover the most weight within `budget`, by lazy greedy choice: the gain of a segment only falls while
 * others are taken, so a stale score is an upper bound and most are never computed again. Returns indexes into
 * `segments`, in conversation order.
 */
export function selectSegments(
  segments: readonly Segment[],
  { bySegment, weight }: Terms,
  cost: (segment: Segment) => number,
  budget: number,
): number[] {
  const covered = new Map<string, number>();
  const costs = segments.map(cost);
  const score = (index: number): number => {
    const gain = (bySegment[index] ?? []).reduce((sum, term) => {
      const times = covered.get(term) ?? 0;
      return sum + (weight.get(term) ?? 0) * AGAIN ** times;
    }, 0);
    return (gain * (segments[index]?.factor ?? 1)) / Math.max(1, costs[index] ?? 1) ** COST_POWER;
  };

  const heap = new Heap();
  for (const index of segments.keys()) heap.push({ index, score: score(index) });
  const chosen: number[] = [];
  let left = budget;
  while (heap.size > 0) {
    const top = heap.pop();
    if (top === undefined || top.score <= 0) break;
    if ((costs[top.index] ?? 0) > left) continue;
    const now = score(top.index);
    if (now < top.score) {
      heap.push({ index: top.index, score: now });
      continue;
    }
    chosen.push(top.index);
    left -= costs[top.index] ?? 0;
    for (const term of bySegment[top.index] ?? []) covered.set(term, (covered.get(term) ?? 0) + 1);
  }
  return chosen.sort((a, b) => a - b);
}
