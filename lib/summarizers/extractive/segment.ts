/** A sentence, clause or line of code: what is selected from. */
export type Segment = {
  readonly text: string;
  /** Words may not be dropped from its edges: code, and scripts that do not part words by spaces. */
  readonly whole: boolean;
};

const MAX_PROSE = 240;
const MAX_UNSPACED = 24;
/** A longer run without any break is data, not text; its head is enough to recognise it. */
const MAX_RUN = 120;
const LONG_RUN = /\S{121,}/gu;
const FENCE = /^(?:```|~~~)/u;
const LINE_BREAK = /\r\n|[\n\r\u2028\u2029]/u;
const MARKER = /^(?:#{1,6}\s+|>\s*|[-*+•]\s+|\d{1,2}[.)]\s+)/u;
/** Scripts whose words are not parted by spaces. */
export const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const SENTENCE_END =
  /(?<=[.!?…؟۔։።।]["'”’»)\]*_]{0,3})\s+|(?<=[。！？；]["'”’»」』）]{0,3})(?=[^\s。！？；"'”’»」』）])/u;
const CLAUSE_END = /(?<=[,;:،؛])\s+|\s+(?=[–—-]\s)/u;
const UNSPACED_CLAUSE_END = /(?<=[，、；：,;])|\s+/u;

const clipData = (text: string): string =>
  text.replace(LONG_RUN, (run) => (UNSPACED.test(run.slice(0, MAX_RUN)) ? run : `${run.slice(0, MAX_RUN)}…`));

/** Joins neighbours while they stay short, so that a comma alone does not make a fragment. */
function joined(parts: readonly string[], max: number, glue: string): string[] {
  const lines: string[] = [];
  for (const part of parts) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + part.length < max) lines[lines.length - 1] = last + glue + part;
    else lines.push(part);
  }
  return lines;
}

function chunks(text: string, max: number): string[] {
  const parts: string[] = [];
  for (let at = 0; at < text.length; at += max) parts.push(text.slice(at, at + max));
  return parts;
}

const wrapped = (text: string): string[] => joined(text.split(/\s+/u), MAX_PROSE / 2, ' ');

function clauses(sentence: string): Segment[] {
  if (UNSPACED.test(sentence)) {
    const parts = sentence.split(UNSPACED_CLAUSE_END).filter((part) => part.trim() !== '');
    return joined(parts, MAX_UNSPACED, '')
      .flatMap((part) => chunks(part, MAX_RUN))
      .map((text) => ({ text, whole: true }));
  }
  if (sentence.length <= MAX_PROSE) return [{ text: sentence, whole: false }];
  const parts = sentence
    .split(CLAUSE_END)
    .flatMap((part) => (part.length > MAX_PROSE ? wrapped(part) : [part]));
  return joined(parts, MAX_PROSE / 2, ' ').map((text) => ({ text, whole: false }));
}

const proseSegments = (line: string): Segment[] =>
  clipData(line.replace(MARKER, ''))
    .split(SENTENCE_END)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '')
    .flatMap(clauses);

/** The segments of a text in order. Line breaks always part; inside a fence every line is code. */
export function segments(text: string): Segment[] {
  let code = false;
  return text.split(LINE_BREAK).flatMap((raw) => {
    const line = raw.trim();
    if (FENCE.test(line)) {
      code = !code;
      return [];
    }
    if (line === '') return [];
    return code ? [{ text: clipData(line).slice(0, MAX_PROSE), whole: true }] : proseSegments(line);
  });
}
