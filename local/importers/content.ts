import type { ContentBlock, MessageContent } from '../../lib/treepath/content.ts';

/** Bytes of a picture do not belong into a table; what is kept says what it was. */
export function imageReference(source: unknown): ContentBlock {
  const { type, media_type, data, url, file_id } = (source ?? {}) as Record<string, unknown>;
  if (typeof data === 'string') {
    return {
      type: 'image',
      source: {
        type: 'omitted',
        media_type: String(media_type ?? 'image'),
        bytes: Math.floor((data.length * 3) / 4),
      },
    };
  }
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
