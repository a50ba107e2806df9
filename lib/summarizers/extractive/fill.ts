import { render } from './render.ts';
import { type Choice, costsOf, Selection } from './select.ts';
import type { Source } from './sources.ts';
import type { Corpus } from './units.ts';
import type { Weights } from './weights.ts';

export type FillInput = {
  readonly corpus: Corpus;
  readonly sources: readonly Source[];
  readonly weights: Weights;
  readonly estimate: (text: string) => number;
  readonly maxTokens: number;
};

/** Costs of single fragments are approximate: the rendered text decides, and what it leaves is filled again. */
const ROUNDS = 8;

/** Takes fragments until `room` tokens are planned for. */
function choose(selection: Selection, room: number): Choice[] {
  const choices: Choice[] = [];
  selection.reconsider();
  for (let left = room; left > 0; ) {
    const taken = selection.next(left);
    if (taken === undefined) break;
    choices.push(taken.choice);
    left -= taken.cost;
  }
  return choices;
}

/** Chooses fragments until the rendered summary fills `maxTokens`, never more; empty when not one fits. */
export function fill({ corpus, sources, weights, estimate, maxTokens }: FillInput): string {
  const selection = new Selection(corpus, weights, costsOf(corpus, sources, estimate));
  const choices: Choice[] = [];
  let text = '';
  let used = 0;
  const measure = (): void => {
    text = render(corpus, sources, choices);
    used = estimate(text);
  };
  for (let round = 0; round < ROUNDS && used < maxTokens; round += 1) {
    const more = choose(selection, maxTokens - used);
    if (more.length === 0) break;
    choices.push(...more);
    measure();
    while (used > maxTokens && choices.length > 0) {
      const excess = Math.floor((choices.length * (used - maxTokens)) / used / 2);
      choices.length -= Math.max(1, excess);
      measure();
    }
  }
  return text;
}
