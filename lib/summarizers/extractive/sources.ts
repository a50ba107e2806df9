import { blocksOf, type ContentBlock, toolResultText } from '../../treepath/content.ts';
import type { Message } from '../../treepath/message.ts';
import { inputDigest } from './tool-input.ts';

/** A stretch of text by one speaker: the smallest thing that gets a label of its own in the summary. */
export type Source = {
  /** Role or tool name, without spaces and colons; empty for text without a known speaker. */
  readonly label: string;
  readonly text: string;
  /** `YYYY-MM-DD`, or empty when unknown. */
  readonly day: string;
  /** How much this kind of text matters; 1 is a person's or an assistant's own words. */
  readonly factor: number;
  /** Taken as one or not at all: a tool call reads as one expression. */
  readonly whole: boolean;
};

type Piece = Omit<Source, 'day'>;

/** Marks the result of a tool call that failed. */
const FAILED = '✗';
const TOOL_RESULT_FACTOR = 0.6;
const FAILED_FACTOR = 1.4;
const CALL_FACTOR = 0.8;
/** The first request says what the conversation is about. */
const GOAL_FACTOR = 1.3;
const MAX_WHOLE = 200;

const labelOf = (name: string): string => name.replace(/[\s:：]+/gu, '_').slice(0, 64);
const dayOf = (createdAt: string): string => /^\d{4}-\d{2}-\d{2}/u.exec(createdAt)?.[0] ?? '';

function call(name: string, input: unknown, role: string): Piece {
  const text = `${name}(${inputDigest(input)})`.replace(/\s+/gu, ' ');
  return { label: role, text, factor: CALL_FACTOR, whole: text.length <= MAX_WHOLE };
}

function result(block: Extract<ContentBlock, { type: 'tool_result' }>, name: string): Piece {
  const text = toolResultText(block);
  return block.is_error === true
    ? { label: labelOf(name) + FAILED, text, factor: FAILED_FACTOR, whole: false }
    : { label: labelOf(name), text, factor: TOOL_RESULT_FACTOR, whole: false };
}

function pieceOf(block: ContentBlock, role: string, toolNames: Map<string, string>): Piece | undefined {
  switch (block.type) {
    case 'text':
      return {
        label: role,
        text: block.text,
        factor: role === 'tool' ? TOOL_RESULT_FACTOR : 1,
        whole: false,
      };
    case 'image':
      return { label: role, text: '[image]', factor: 1, whole: true };
    case 'tool_use':
      toolNames.set(block.id, block.name);
      return call(block.name, block.input, role);
    case 'tool_result':
      return result(block, toolNames.get(block.tool_use_id) ?? 'tool');
    case 'thinking':
      return undefined;
  }
}

/** The texts of the messages in order. Thinking is left out: its conclusions are in the answer that follows. */
export function sourcesOf(messages: readonly Message[]): Source[] {
  const toolNames = new Map<string, string>();
  return messages.flatMap((message) => {
    const day = dayOf(message.createdAt);
    return blocksOf(message.content).flatMap((block) => {
      const piece = pieceOf(block, message.role, toolNames);
      return piece === undefined || piece.text.trim() === '' ? [] : [{ ...piece, day }];
    });
  });
}

/** Gives the first request its weight. */
export function withGoal(sources: readonly Source[]): Source[] {
  const first = sources.findIndex(({ label }) => label === 'user');
  return sources.map((source, index) =>
    index === first ? { ...source, factor: source.factor * GOAL_FACTOR } : source,
  );
}

/** Tokens of a line that names a day. */
const DAY_TOKENS = 4;
const MAX_DAY_SHARE = 1 / 8;

/** Keeps days where they tell something: when there are several, and few enough for the budget. */
export function withUsefulDays(sources: readonly Source[], maxTokens: number): readonly Source[] {
  const days = new Set(sources.flatMap(({ day }) => (day === '' ? [] : [day])));
  if (days.size > 1 && days.size * DAY_TOKENS <= maxTokens * MAX_DAY_SHARE) return sources;
  return sources.map((source) => ({ ...source, day: '' }));
}
