import { blocksOf, type ContentBlock, toolResultText } from '../../treepath/content.ts';
import type { Message } from '../../treepath/message.ts';

/** One piece of the transcript that is taken or left whole. */
export type Segment = {
  readonly index: number;
  readonly speaker: string;
  readonly text: string;
  /** Weighs a segment by where it comes from: errors and earlier notes more, long tool output less. */
  readonly factor: number;
};

const sentences = new Intl.Segmenter(undefined, { granularity: 'sentence' });
/** Longer sentences are divided at clause marks, or a paragraph without stops would be taken or left whole. */
const MAX_CHARS = 240;
const CLAUSE = /(?<=[,;:，、；：])\s*|(?<=\s[-–—])\s/u;

/** Clauses joined up again until they reach a readable length; a text without any mark is cut at `MAX_CHARS`. */
function clausesOf(sentence: string): string[] {
  if (sentence.length <= MAX_CHARS) return [sentence];
  const pieces: string[] = [];
  for (const clause of sentence.split(CLAUSE)) {
    const last = pieces.at(-1);
    if (last !== undefined && last.length + clause.length < MAX_CHARS / 2) pieces[pieces.length - 1] = `${last} ${clause}`;
    else pieces.push(clause);
  }
  return pieces.flatMap((piece) => chunksOf(piece));
}

function chunksOf(piece: string): string[] {
  const chunks: string[] = [];
  for (let rest = piece; rest.length > 0; ) {
    const end = rest.length > MAX_CHARS && /[\ud800-\udbff]$/.test(rest.slice(0, MAX_CHARS)) ? MAX_CHARS - 1 : MAX_CHARS;
    chunks.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
  return chunks;
}

/** Sentences of a text; lines stand for themselves, so that lists and code stay apart. */
export function sentencesOf(text: string): string[] {
  return text
    .split(/\r?\n/)
    .flatMap((line) => [...sentences.segment(line)].flatMap(({ segment }) => clausesOf(segment.trim())))
    .filter((sentence) => /[\p{L}\p{N}]/u.test(sentence));
}

type Part = { readonly text: string; readonly factor: number };

function partOf(block: ContentBlock): Part {
  switch (block.type) {
    case 'text':
      return { text: block.text, factor: 1 };
    case 'thinking':
      return { text: '', factor: 0 };
    case 'image':
      return { text: '', factor: 0 };
    case 'tool_use':
      return { text: `${block.name} ${JSON.stringify(block.input) ?? ''}`, factor: 0.6 };
    case 'tool_result':
      return { text: toolResultText(block), factor: block.is_error === true ? 1.5 : 0.7 };
  }
}

/** Every segment of the messages, in order, numbered from `start`. */
export function segmentsOf(messages: readonly Message[], start: number): Segment[] {
  const segments: Segment[] = [];
  for (const message of messages) {
    for (const { text, factor } of blocksOf(message.content).map(partOf)) {
      for (const sentence of sentencesOf(text)) {
        segments.push({ index: start + segments.length, speaker: message.role, text: sentence, factor });
      }
    }
  }
  return segments;
}
