import { UNSPACED } from './segment.ts';

export type WordKind = 'word' | 'number' | 'identifier';

/** One word of a segment: where it stands, and the key under which its forms are counted together. */
export type Word = {
  readonly start: number;
  readonly end: number;
  readonly key: string;
  readonly kind: WordKind;
  /** Starts with a capital letter although no sentence starts here. */
  readonly capital: boolean;
  readonly negation: boolean;
};

/** A run of a script without spaces, or anything else between spaces: a URL inside Chinese text is a run of its own. */
const CHUNK = new RegExp(`${UNSPACED.source}+|(?:(?!${UNSPACED.source})\\S)+`, 'gu');
const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;
const EDGES = /^[^\p{L}\p{M}\p{N}/~@#$.]+|[^\p{L}\p{M}\p{N}/%+#°€$]+$/gu;
const HAS_INNER_MARK =
  /[\p{L}\p{N}][_/\\@:=.#&?]+[\p{L}\p{N}]|^[/~@#$.]+[\p{L}]|^\/|\p{Ll}\p{Lu}|\p{L}\p{N}|\p{N}\p{L}{2}|\p{Lu}-\p{N}|\p{N}-\p{Lu}/u;
const NUMBER = /^[#$€£¥+-]?\p{N}[\p{N}.,:/%°-]*(?:st|nd|rd|th|[a-zA-Z])?$/u;
const PARTS = /[\p{L}\p{M}\p{N}]+(?:['’][\p{L}\p{M}]+)*/gu;

/** Words that turn a statement into its opposite; a fragment must not lose them. */
const NEGATIONS = new Set(
  (
    'no not never none nothing without cannot neither nor nicht kein keine keinen keiner nie ohne ne pas jamais sans aucun ' +
    'nunca jamás sin ni não nao nem sem non mai senza niet geen nooit zonder inte aldrig ikke nie bez не нет ни никогда без нельзя ' +
    'لا لم لن ليس ليست بدون לא אין בלי değil yok नहीं मत न 안 못'
  ).split(' '),
);
const UNSPACED_NEGATION = /^[不没沒别別无無未勿禁]|ない$|ません$|^ไม่/u;
const isNegation = (lower: string): boolean => NEGATIONS.has(lower) || /n['’]t$/u.test(lower);

const SUFFIXES = ['ing', 'ed', 'es', 's'];

/** Folds the usual endings of Latin-script words, without a dictionary of any language. */
export function stem(word: string): string {
  const bare = word.replace(/['’]\p{L}{1,2}$/u, '');
  if (bare.length < 4 || !/^[\p{Script=Latin}\p{M}]+$/u.test(bare)) return bare;
  const light = bare.replace(/(?:ies|ied)$/u, 'y');
  const suffix = SUFFIXES.find((end) => light.endsWith(end) && light.length - end.length >= 3);
  const cut = suffix === undefined ? light : light.slice(0, -suffix.length);
  return cut.replace(/(\p{L})\1$/u, '$1').replace(/e$/u, '');
}

const segmenter = new Intl.Segmenter('und', { granularity: 'word' });

function unspacedWords(text: string, offset: number): Word[] {
  const words: Word[] = [];
  for (const { segment, index, isWordLike } of segmenter.segment(text)) {
    if (isWordLike !== true) continue;
    const kind = NUMBER.test(segment) ? 'number' : 'word';
    const start = offset + index;
    words.push({
      start,
      end: start + segment.length,
      key: segment.toLowerCase(),
      kind,
      capital: false,
      negation: UNSPACED_NEGATION.test(segment),
    });
  }
  return words;
}

function spacedWord(raw: string, start: number, first: boolean): Word[] {
  const core = raw.replace(EDGES, '');
  const lower = core.toLowerCase();
  const whole = { start, end: start + raw.length, negation: isNegation(lower) };
  if (NUMBER.test(core)) return [{ ...whole, key: lower, kind: 'number', capital: false }];
  if (HAS_INNER_MARK.test(core)) return [{ ...whole, key: lower, kind: 'identifier', capital: false }];
  const parts = [...raw.matchAll(PARTS)];
  return parts.map((part, index) => {
    const from = index === 0 ? start : start + part.index;
    const next = parts[index + 1];
    const to = next === undefined ? start + raw.length : start + next.index;
    const text = part[0];
    const lowerPart = text.toLowerCase();
    return {
      start: from,
      end: to,
      key: stem(lowerPart),
      kind: NUMBER.test(text) ? 'number' : 'word',
      capital: !first && /^\p{Lu}/u.test(text),
      negation: isNegation(lowerPart),
    };
  });
}

/** The words of a segment in order. Paths, URLs, identifiers and numbers are one word each. */
export function wordsOf(text: string): Word[] {
  const words: Word[] = [];
  let first = true;
  for (const match of text.matchAll(CHUNK)) {
    const raw = match[0];
    if (!LETTER_OR_DIGIT.test(raw)) continue;
    if (UNSPACED.test(raw)) words.push(...unspacedWords(raw, match.index));
    else words.push(...spacedWord(raw, match.index, first));
    first = /[.!?:]["'”’)]*$/u.test(raw);
  }
  return words;
}
