import { type ContentBlock, contentBlock, type MessageContent } from '../../lib/treepath/content.ts';
import { imageReference, simplified, textBlock } from './content.ts';
import { PlaceError } from './types.ts';

type Fields = Record<string, unknown>;

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? { ...value } : {};

/** A block of the Messages API, or of the chat completions API, as it is stored. */
function blockOf(value: unknown, place: string): ContentBlock | undefined {
  const block = fieldsOf(value);
  const { type } = block;
  if (typeof type !== 'string') throw new PlaceError(place, 'a content block has no type');
  if (type === 'image') return imageReference(block.source);
  if (type === 'image_url' || type === 'input_image') return imageReference(urlSource(block.image_url));
  if (type === 'thinking' && typeof block.thinking === 'string')
    return { type: 'thinking', thinking: block.thinking };
  if (/(^|_)tool_use$/.test(type))
    return checked({ type: 'tool_use', id: block.id, name: block.name, input: block.input }, place);
  if (/(^|_)tool_result$/.test(type)) return checked(toolResult(block), place);
  if (type === 'document') return documentText(block);
  return readable(block);
}

const urlSource = (image: unknown): Fields => ({
  type: 'url',
  url: typeof image === 'string' ? image : fieldsOf(image).url,
});

/** Kinds of blocks come and go; what has a text is kept, what has none holds nothing for a reader. */
const readable = ({ text }: Fields): ContentBlock | undefined =>
  typeof text === 'string' && text !== '' ? textBlock(text) : undefined;

/** A document that is text is kept as text; of another one, its name. */
function documentText({ title, source }: Fields): ContentBlock {
  const { type, media_type, data } = fieldsOf(source);
  const name = typeof title === 'string' ? title : 'document';
  if (type === 'text' && typeof data === 'string') return textBlock(`${name}:\n${data}`);
  return textBlock(`[${name}${typeof media_type === 'string' ? `, ${media_type}` : ''}]`);
}

function toolResult(block: Fields): Fields {
  return {
    type: 'tool_result',
    tool_use_id: block.tool_use_id,
    ...(block.content === undefined || block.content === null ? {} : { content: answer(block.content) }),
    ...(typeof block.is_error === 'boolean' ? { is_error: block.is_error } : {}),
  };
}

function answer(content: unknown): unknown {
  if (Array.isArray(content)) return content.flatMap(answerPart);
  return typeof content === 'object' ? JSON.stringify(content) : content;
}

function answerPart(part: unknown): unknown[] {
  const { type, text, source, title, url } = fieldsOf(part);
  if (type === 'image') return [imageReference(source)];
  if (typeof text === 'string') return [{ type: 'text', text }];
  const found = [title, url].filter((field) => typeof field === 'string');
  return found.length > 0 ? [{ type: 'text', text: found.join('\n') }] : [];
}

function checked(block: Fields, place: string): ContentBlock {
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
