import { clip } from './head.ts';

/** A sentence, clause or line of code: what is selected from. */
export type Segment = {
  readonly text: string;
  /** Words may not be dropped from its edges: code, and scripts that do not part words by spaces. */
  readonly whole: boolean;
  readonly code: boolean;
};

const MAX_PROSE = 240;
const MAX_UNSPACED = 24;
const MAX_UNSPACED_CLAUSE = 100;
/** A longer run without any break is data, not text; its head is enough to recognise it. */
const MAX_RUN = 120;
const LONG_RUN = /\S{121,}/gu;
const FENCE = /^(?:```|~~~)/u;
const LINE_BREAK = /\r\n|[\n\r\u2028\u2029]/u;
const MARKER = /^(?:#{1,6}\s+|>\s*|[-*+•]\s+|(?:\d{1,3}|[IVXLC]{1,5}|[A-Za-z])[.)]\s+)/u;
/** Scripts whose words are not parted by spaces. */
export const UNSPACED =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const SENTENCE_END =
  /(?<=[.!?…؟۔։።।]["'”’»)\]*_]{0,3})\s+|(?<=[。！？；]["'”’»」』）]{0,3})(?=[^\s。！？；"'”’»」』）])/u;
const CLAUSE_END = /(?<=[,;:،؛])\s+|\s+(?=[–—-]\s)/u;
const UNSPACED_CLAUSE_END = /(?<=[，、；：]|[,;](?=\P{N}))/u;
const SPACE = /(?<=\s)/u;

const clipRun = (run: string): string =>
  run.length > MAX_RUN && !UNSPACED.test(run.slice(0, MAX_RUN)) ? `${clip(run, MAX_RUN)}…` : run;

/** Parts long runs where minified data has its commas, and cuts what is still too long. */
const clipData = (text: string): string =>
  text.replace(LONG_RUN, (run) =>
    run
      .split(/(?<=[,;&|}])/u)
      .map(clipRun)
      .join(' '),
  );

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
  for (let at = 0; at < text.length; ) {
    const part = clip(text.slice(at, at + max + 1), max);
    parts.push(part);
    at += part.length;
  }
  return parts;
}

const wrapped = (text: string): string[] => joined(text.split(/\s+/u), MAX_PROSE / 2, ' ');

function clauses(sentence: string): Segment[] {
  if (UNSPACED.test(sentence)) {
    const parts = sentence
      .split(UNSPACED_CLAUSE_END)
      .flatMap((part) => (part.length > MAX_UNSPACED_CLAUSE ? part.split(SPACE) : [part]));
    return joined(parts, MAX_UNSPACED, '')
      .flatMap((part) => chunks(part, MAX_RUN))
      .map((part) => ({ text: part.trim(), whole: true, code: false }));
  }
  if (sentence.length <= MAX_PROSE) return [{ text: sentence, whole: false, code: false }];
  const parts = sentence
    .split(CLAUSE_END)
    .flatMap((part) => (part.length > MAX_PROSE ? wrapped(part) : [part]));
  return joined(parts, MAX_PROSE / 2, ' ').map((text) => ({ text, whole: false, code: false }));
}

const proseSegments = (line: string): Segment[] =>
  clipData(line.replace(/\s+/gu, ' ').replace(MARKER, ''))
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
    return code ? [{ text: clip(clipData(line), MAX_PROSE), whole: true, code: true }] : proseSegments(line);
  });
}
