import { estimateTokens } from '../../compaction/estimator/index.ts';
import { SummarizerError } from '../../errors.ts';
import type { SummaryRequest, Summarizer } from '../summarizer.ts';
import { parseNotes, render } from './render.ts';
import { type Segment, segmentsOf, sentencesOf } from './segment.ts';
import { selectSegments } from './select.ts';
import { weighTerms } from './weights.ts';

export const EXTRACTIVE_MODEL = 'extractive';
/** What earlier notes hold was already chosen once; it outlives a second compaction. */
const NOTES_FACTOR = 1.6;
/** Tokens of a line's mark and speaker. */
const LINE_OVERHEAD = 3;

function notesSegments(previousSummary: string | undefined): Segment[] {
  const lines = previousSummary === undefined ? [] : parseNotes(previousSummary);
  return lines
    .flatMap(({ speaker, text }) => sentencesOf(text).map((sentence) => ({ speaker, text: sentence, factor: NOTES_FACTOR })))
    .map((segment, index) => ({ ...segment, index }));
}

/** The longest prefix of the chosen segments that fits as rendered; costs of segments are estimates of their own. */
function fitted(segments: readonly Segment[], maxTokens: number): string {
  let chosen = [...segments];
  let text = render(chosen);
  while (chosen.length > 1 && estimateTokens(text) > maxTokens) {
    chosen = chosen.slice(0, Math.max(1, Math.floor(chosen.length * 0.97) - 1));
    text = render(chosen);
  }
  return text;
}

/** Cuts a single line that no budget could take, between characters. */
function cut(text: string, maxTokens: number): string {
  if (estimateTokens(text) <= maxTokens) return text;
  const characters = [...text];
  let low = 0;
  let high = characters.length;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (estimateTokens(characters.slice(0, middle).join('')) <= maxTokens) low = middle;
    else high = middle - 1;
  }
  return characters.slice(0, low).join('');
}

function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new SummarizerError('aborted', 'The summarization was stopped.', { retryable: true });
}

/** The text of a summary within `maxTokens`; blank only when the input has no word at all. */
function extract({ messages, previousSummary, instructions, maxTokens, signal }: SummaryRequest): string {
  const notes = notesSegments(previousSummary);
  const segments = [...notes, ...segmentsOf(messages, notes.length)];
  throwIfAborted(signal);
  const terms = weighTerms(segments, instructions);
  throwIfAborted(signal);
  const cost = ({ text }: Segment): number => estimateTokens(text) + LINE_OVERHEAD;
  const chosen = selectSegments(segments, terms, cost, maxTokens).flatMap((index) => segments[index] ?? []);
  const shown = chosen.length > 0 ? chosen : segments.slice(0, 1);
  return cut(fitted(shown, maxTokens), maxTokens);
}

/**
 * Summarizes without a model, in any language: sentences that cover the most weighted terms within the budget, in
 * conversation order with their speakers. Deterministic. Honours `signal` between its phases.
 */
export function createExtractiveSummarizer(): Summarizer {
  return {
    model: EXTRACTIVE_MODEL,
    promptVersion: 'extractive-1',
    window: Number.POSITIVE_INFINITY,
    async summarize(request) {
      const text = extract(request);
      return {
        text,
        model: EXTRACTIVE_MODEL,
        inputTokens: request.messages.reduce((sum, { tokens }) => sum + tokens, 0),
        outputTokens: estimateTokens(text),
        stop: 'complete',
      };
    },
  };
}
