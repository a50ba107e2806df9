import { SEPARATOR } from './render.ts';
import type { Source } from './sources.ts';

const DAY = /^\[(\d{4}-\d{2}-\d{2})\]$/u;
const LABELLED = /^([^\s:：]{1,64}): (.*)$/u;
/** What was kept once was worth keeping: it goes before new text of equal worth. */
const PREVIOUS_FACTOR = 1.3;

/** The sources of an earlier summary. Its own form comes back as it was; anything else is read line by line. */
export function previousSources(summary: string | undefined): Source[] {
  let day = '';
  return (summary ?? '').split('\n').flatMap((raw) => {
    const line = raw.trim();
    const marked = DAY.exec(line)?.[1];
    if (marked !== undefined) {
      day = marked;
      return [];
    }
    if (line === '') return [];
    const [, label = '', text = line] = LABELLED.exec(line) ?? [];
    return [{ label, text: text.replaceAll(SEPARATOR, '\n'), day, factor: PREVIOUS_FACTOR, whole: false }];
  });
}
