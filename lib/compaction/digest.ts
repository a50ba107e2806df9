import { blocksOf, type ContentBlock, toolResultText } from '../treepath/content.ts';
import type { Message } from '../treepath/message.ts';

const CALL_CHARS = 300;
const RESULT_CHARS = 2_000;

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;

/** Cuts before `end` without splitting a surrogate pair. */
const headOf = (text: string, end: number): string =>
  text.slice(0, isHighSurrogate(text.charCodeAt(end - 1)) ? end - 1 : end);

const tailOf = (text: string, length: number): string => {
  const start = text.length - length;
  return text.slice(isHighSurrogate(text.charCodeAt(start - 1)) ? start + 1 : start);
};

/** Head and tail of a text, with a note of what is left out between them; never longer than `maxChars` plus the note. */
export function shorten(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const head = headOf(text, Math.max(1, Math.ceil(maxChars * 0.6)));
  const tail = tailOf(text, Math.max(1, Math.floor(maxChars * 0.4)));
  const left = text.length - head.length - tail.length;
  return `${head}\n[… ${left} characters left out …]\n${tail}`;
}

function renderBlock(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'thinking':
      return '';
    case 'image':
      return '[image]';
    case 'tool_use':
      return `[call ${block.name} ${shorten(JSON.stringify(block.input) ?? '', CALL_CHARS)}]`;
    case 'tool_result':
      return `[${block.is_error === true ? 'error' : 'result'}] ${shorten(toolResultText(block), RESULT_CHARS)}`;
  }
}

/** A message as the transcript shows it: its role, its text, tool calls as one-line digests, images by reference. */
export function renderMessage(message: Pick<Message, 'role' | 'content'>): string {
  const text = blocksOf(message.content)
    .map(renderBlock)
    .filter((part) => part !== '')
    .join('\n');
  return `${message.role}: ${text}`;
}
