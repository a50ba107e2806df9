import type { ContentBlock, MessageContent } from '../../lib/treepath/content.ts';

const DATA_URL = /^data:([^;,]*)[^,]*,/;
/** Bytes inside a text, as Markdown shows pictures; short ones are no burden and stay. */
const INLINE_DATA = /data:([\w.+/-]*);base64,[A-Za-z0-9+/=]{200,}/g;

const bytesOf = (base64: string): number => {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0;
  return Math.floor((base64.length * 3) / 4) - padding;
};

const omitted = (mediaType: unknown, base64: string): ContentBlock => ({
  type: 'image',
  source: { type: 'omitted', media_type: String(mediaType || 'image'), bytes: bytesOf(base64) },
});

/** Bytes of a picture do not belong into a table; what is kept says what it was. */
export function imageReference(source: unknown): ContentBlock {
  const { type, media_type, data, url, file_id } = (source ?? {}) as Record<string, unknown>;
  if (typeof data === 'string') return omitted(media_type, data);
  const inline = typeof url === 'string' ? DATA_URL.exec(url) : null;
  if (inline !== null) return omitted(inline[1], String(url).slice(inline[0].length));
  const reference = { ...(url === undefined ? {} : { url }), ...(file_id === undefined ? {} : { file_id }) };
  return { type: 'image', source: { type: String(type ?? 'url'), ...reference } };
}

/** One text block is plain text; none at all is nothing. */
export function simplified(blocks: readonly ContentBlock[]): MessageContent | undefined {
  const [first] = blocks;
  if (first === undefined) return undefined;
  if (blocks.length === 1 && first.type === 'text') return first.text === '' ? undefined : first.text;
  return [...blocks];
}

export const textBlock = (text: string): ContentBlock => ({ type: 'text', text });

const lightText = (text: string): string =>
  text.replace(INLINE_DATA, (found, mediaType: string) => {
    const base64 = found.slice(found.indexOf(',') + 1);
    return `[${mediaType || 'data'}, ${bytesOf(base64)} bytes]`;
  });

/** The content with a note in place of the bytes that its texts carry. */
export function withoutInlineData(content: MessageContent): MessageContent {
  if (typeof content === 'string') return lightText(content);
  return content.map((block): ContentBlock => {
    if (block.type === 'text') return textBlock(lightText(block.text));
    if (block.type !== 'tool_result' || block.content === undefined) return block;
    if (typeof block.content === 'string') return { ...block, content: lightText(block.content) };
    const parts = block.content.map((part) =>
      part.type === 'text' ? { ...part, text: lightText(part.text) } : part,
    );
    return { ...block, content: parts };
  });
}
