import type { Choice } from './select.ts';
import type { Source } from './sources.ts';
import type { Span } from './spans.ts';
import type { Corpus, Unit } from './units.ts';

/** Parts fragments of one speaker; a sentence that ends by itself needs none. */
export const SEPARATOR = '; ';
const ENDS_BY_ITSELF = /[!?…！？؟]["'”’)»」』]*$/u;
const LOOSE_END = /[\s,;:.。，、；：،؛-]+$/u;

const glue = (before: string, next: string): string =>
  before + (ENDS_BY_ITSELF.test(before) ? ' ' : SEPARATOR) + next;

/** Spans in order, those that touch as one. */
function merged(spans: readonly Span[]): Span[] {
  const result: Span[] = [];
  for (const span of spans.toSorted((a, b) => a.from - b.from)) {
    const last = result.at(-1);
    if (last !== undefined && span.from <= last.to)
      result[result.length - 1] = { from: last.from, to: span.to };
    else result.push(span);
  }
  return result;
}

function fragment(unit: Unit, spans: readonly Span[]): string {
  if (unit.whole) return unit.text.replace(LOOSE_END, '');
  return merged(spans)
    .map(({ from, to }) => unit.text.slice(unit.words[from]?.start, unit.words[to - 1]?.end))
    .map((text) => text.replace(LOOSE_END, ''))
    .reduce(glue);
}

/** The chosen fragments in conversation order: a line for each run of one speaker, a day where the day changes. */
export function render({ units }: Corpus, sources: readonly Source[], choices: readonly Choice[]): string {
  const byUnit = Map.groupBy(choices, ({ unit }) => unit);
  const lines: string[] = [];
  let speaker: string | undefined;
  let day = '';
  for (const [index, spans] of [...byUnit].toSorted(([a], [b]) => a - b)) {
    const unit = units[index];
    const source = unit && sources[unit.source];
    if (unit === undefined || source === undefined) continue;
    if (source.day !== '' && source.day !== day) {
      day = source.day;
      lines.push(`[${day}]`);
      speaker = undefined;
    }
    const text = fragment(unit, spans);
    const last = lines.at(-1);
    if (speaker === source.label && last !== undefined) lines[lines.length - 1] = glue(last, text);
    else lines.push(source.label === '' ? text : `${source.label}: ${text}`);
    speaker = source.label;
  }
  return lines.join('\n');
}
