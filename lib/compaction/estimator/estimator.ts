import type { MessageContent } from '../../treepath/content.ts';

/** Added for every message, and for a system prompt: role and separators (A12). */
export const MESSAGE_OVERHEAD = 4;

export type Estimator = {
  readonly name: string;
  /** Tokens of a text; 0 for an empty one. */
  estimateTokens(text: string): number;
  /** Tokens of a path, with `MESSAGE_OVERHEAD` for each message and for a system prompt of `systemPromptChars`. */
  estimatePath(messages: readonly { content: MessageContent }[], systemPromptChars: number): number;
};

/** UTF-16 length over four, rounded up: the number that chat interfaces show (A11). Far too low for CJK. */
export const charsOverFour = (chars: number): number => Math.ceil(chars / 4);
