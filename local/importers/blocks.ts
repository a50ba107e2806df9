import { type ContentBlock, contentBlock, type MessageContent } from '../../lib/treepath/content.ts';
import { imageReference, simplified, textBlock } from './content.ts';
import { PlaceError } from './types.ts';

const fieldsOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? { ...value } : {};

/** A block of the Messages API as it is stored; pictures by reference, kinds that hold nothing for a reader left out. */
function blockOf(value: unknown, place: string): ContentBlock | undefined {
  const block = fieldsOf(value);
  if (block.type === 'image') return imageReference(block.source);
  if (block.type === 'text' && typeof block.text === 'string')
    return block.text === '' ? undefined : textBlock(block.text);
  if (block.type === 'thinking' && typeof block.thinking === 'string')
    return { type: 'thinking', thinking: block.thinking };
  if (block.type === 'tool_use')
    return checked({ type: 'tool_use', id: block.id, name: block.name, input: block.input }, place);
  if (block.type === 'tool_result') return checked(toolResult(block), place);
  if (typeof block.type !== 'string') throw new PlaceError(place, 'a content block has no type');
  return undefined;
}

function toolResult(block: Record<string, unknown>): Record<string, unknown> {
  const parts = Array.isArray(block.content)
    ? block.content.flatMap((part): unknown[] => {
        const { type, text, source } = fieldsOf(part);
        if (type === 'image') return [imageReference(source)];
        return typeof text === 'string' ? [{ type: 'text', text }] : [];
      })
    : block.content;
  return {
    type: 'tool_result',
    tool_use_id: block.tool_use_id,
    ...(parts === undefined || parts === null ? {} : { content: parts }),
    ...(typeof block.is_error === 'boolean' ? { is_error: block.is_error } : {}),
  };
}

function checked(block: Record<string, unknown>, place: string): ContentBlock {
  const parsed = contentBlock.safeParse(block);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new PlaceError(
    `${place}.${issue?.path.map(String).join('.') ?? ''}`,
    issue?.message ?? 'not a content block',
  );
}

/** Text, or blocks; `undefined` when nothing is left of it. Throws `PlaceError`. */
export function contentFrom(value: unknown, place: string): MessageContent | undefined {
  if (value === null || value === undefined) return undefined;
  if (typeof value === 'string') return value === '' ? undefined : value;
  if (!Array.isArray(value)) throw new PlaceError(place, 'the content is neither text nor a list of blocks');
  return simplified(value.flatMap((block, index) => blockOf(block, `${place}[${index}]`) ?? []));
}
