import * as z from 'zod';

/** Content of a message: plain text, or blocks in the shape of the Messages API. */
export const textBlock = z.object({ type: z.literal('text'), text: z.string() });
export const thinkingBlock = z.looseObject({ type: z.literal('thinking'), thinking: z.string() });
/** An image is kept by reference; inline bytes belong in the application's own object store. */
export const imageBlock = z.looseObject({
  type: z.literal('image'),
  source: z.looseObject({ type: z.string() }),
});
export const toolUseBlock = z.looseObject({
  type: z.literal('tool_use'),
  id: z.string().min(1),
  name: z.string().min(1),
  input: z.unknown(),
});
export const toolResultBlock = z.looseObject({
  type: z.literal('tool_result'),
  tool_use_id: z.string().min(1),
  content: z.union([z.string(), z.array(z.union([textBlock, imageBlock]))]).optional(),
  is_error: z.boolean().optional(),
});
export const contentBlock = z.discriminatedUnion('type', [
  textBlock,
  thinkingBlock,
  imageBlock,
  toolUseBlock,
  toolResultBlock,
]);
export const messageContent = z.union([z.string(), z.array(contentBlock)]);

export type ContentBlock = z.infer<typeof contentBlock>;
export type MessageContent = z.infer<typeof messageContent>;

/** The blocks of a content; plain text is one text block. */
export function blocksOf(content: MessageContent): readonly ContentBlock[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

/** The text of a tool result, whatever shape it has; images become `[image]`. */
export function toolResultText(block: Extract<ContentBlock, { type: 'tool_result' }>): string {
  if (block.content === undefined) return '';
  if (typeof block.content === 'string') return block.content;
  return block.content.map((part) => (part.type === 'text' ? part.text : '[image]')).join('\n');
}

/** What a person would read of a message: text blocks only, joined by line breaks. */
export function textOf(content: MessageContent): string {
  return blocksOf(content)
    .flatMap((block) => (block.type === 'text' ? [block.text] : []))
    .join('\n');
}
