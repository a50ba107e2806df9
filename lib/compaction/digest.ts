import { blocksOf, type ContentBlock } from '../treepath/content.ts';
import type { Message } from '../treepath/message.ts';

const CALL_CHARS = 300;
const RESULT_CHARS = 2_000;
const REFERENCE_CHARS = 200;

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;

/** Cuts before `end` without splitting a surrogate pair. */
const headOf = (text: string, end: number): string =>
  text.slice(0, isHighSurrogate(text.charCodeAt(end - 1)) ? end - 1 : end);

const tailOf = (text: string, length: number): string => {
  const start = text.length - length;
  return text.slice(isHighSurrogate(text.charCodeAt(start - 1)) ? start + 1 : start);
};

/**
 * Head and tail of a text, with a note of what is left out between them, `glue` around the note. Without the note it
 * is never longer than `maxChars` (UTF-16); a text that fits is returned as it is.
 */
export function shorten(text: string, maxChars: number, glue = '\n'): string {
  if (text.length <= maxChars) return text;
  const headChars = Math.ceil(maxChars * 0.6);
  const head = headOf(text, headChars);
  const tail = tailOf(text, Math.max(0, maxChars - headChars));
  const left = text.length - head.length - tail.length;
  return `${head}${glue}[… ${left} characters left out …]${glue}${tail}`;
}

const oneLine = (text: string, maxChars: number): string =>
  shorten(text.split(/\s*\n\s*/).join(' '), maxChars, ' ');

const textField = (source: object, key: string): string | undefined => {
  const value: unknown = Reflect.get(source, key);
  return typeof value === 'string' && value !== '' ? value : undefined;
};

/** Where a picture is, never its bytes: a data URL or base64 says only what kind of picture it is. */
function imageReference(source: object): string {
  const url = textField(source, 'url');
  const dataType = url?.match(/^data:([\w.+-]+\/[\w.+-]+)/)?.[1];
  if (url?.startsWith('data:')) return dataType ?? '';
  return url ?? textField(source, 'file_id') ?? textField(source, 'media_type') ?? '';
}

function renderImage({ source }: { readonly source: object }): string {
  const reference = oneLine(imageReference(source), REFERENCE_CHARS);
  return reference === '' ? '[image]' : `[image ${reference}]`;
}

type ToolResult = Extract<ContentBlock, { type: 'tool_result' }>;

function renderResult({ content = '', is_error }: ToolResult): string {
  const text =
    typeof content === 'string'
      ? content
      : content.map((part) => (part.type === 'text' ? part.text : renderImage(part))).join('\n');
  return `[${is_error === true ? 'error' : 'result'}] ${shorten(text, RESULT_CHARS)}`;
}

function renderBlock(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'thinking':
      return '';
    case 'image':
      return renderImage(block);
    case 'tool_use':
      return `[call ${oneLine(block.name, CALL_CHARS)} ${oneLine(JSON.stringify(block.input) ?? '', CALL_CHARS)}]`;
    case 'tool_result':
      return renderResult(block);
  }
}

/** What a message says, as the transcript shows it: thinking left out, tool results shortened, pictures by reference. */
export const renderContent = (content: Message['content']): string =>
  blocksOf(content)
    .map(renderBlock)
    .filter((part) => part !== '')
    .join('\n');

/** A message as the transcript shows it: its role, then what it says; a tool call is one line. */
export const renderMessage = ({ role, content }: Pick<Message, 'role' | 'content'>): string =>
  `${role}: ${renderContent(content)}`;
