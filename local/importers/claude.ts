import * as z from 'zod';
import type { ContentBlock } from '../../lib/treepath/content.ts';
import { blocksOf } from '../../lib/treepath/content.ts';
import { contentFrom } from './blocks.ts';
import { simplified, textBlock } from './content.ts';
import { isoOfText } from './times.ts';
import { pruneTree } from './tree.ts';
import { type ImportedConversation, PlaceError, type RawNode } from './types.ts';

const message = z.looseObject({
  uuid: z.string(),
  parent_message_uuid: z.string().nullish(),
  sender: z.string(),
  text: z.string().nullish(),
  content: z.array(z.unknown()).nullish(),
  created_at: z.string().nullish(),
  attachments: z
    .array(z.looseObject({ file_name: z.string().nullish(), extracted_content: z.string().nullish() }))
    .nullish(),
});

export const claudeExport = z.looseObject({
  name: z.string().nullish(),
  updated_at: z.string().nullish(),
  current_leaf_message_uuid: z.string().nullish(),
  chat_messages: z.array(message),
});

type Message = z.output<typeof message>;

const ROLES: Readonly<Record<string, RawNode['role']>> = {
  human: 'user',
  assistant: 'assistant',
  system: 'system',
};

/** The text that the export took out of attached files stands with the message it came with. */
function attachments({ attachments: files }: Message): ContentBlock[] {
  return (files ?? []).flatMap(({ file_name, extracted_content }) =>
    extracted_content ? [textBlock(`${file_name ?? 'attachment'}:\n${extracted_content}`)] : [],
  );
}

/** Calls without an id of their own are told apart by their place. */
function withIds(content: unknown[] | null | undefined, uuid: string): unknown[] {
  let calls = 0;
  return (content ?? []).map((block) => {
    const { type, id, tool_use_id } = (block ?? {}) as Record<string, unknown>;
    if (type === 'tool_use' && typeof id !== 'string') {
      calls += 1;
      return { ...(block as object), id: `${uuid}-${calls}` };
    }
    if (type === 'tool_result' && typeof tool_use_id !== 'string')
      return { ...(block as object), tool_use_id: `${uuid}-${calls}` };
    return block;
  });
}

function contentOf(found: Message, place: string) {
  const own =
    contentFrom(withIds(found.content, found.uuid), `${place}.content`) ?? (found.text || undefined);
  return simplified([...(own === undefined ? [] : blocksOf(own)), ...attachments(found)]);
}

/** Older exports are linear; in newer ones a root names a parent that stands for nothing, all roots the same. */
function parentOf(index: number, messages: readonly Message[], known: ReadonlySet<string>): string | null {
  const named = messages[index]?.parent_message_uuid;
  if (named === undefined || named === null) return messages[index - 1]?.uuid ?? null;
  if (known.has(named)) return named;
  if (index === 0 || named === messages[0]?.parent_message_uuid || /^0{8}-/.test(named)) return null;
  throw new PlaceError(
    `chat_messages[${index}].parent_message_uuid`,
    `it answers to "${named}", which is not in the export`,
  );
}

export function fromClaude(conversation: z.output<typeof claudeExport>): ImportedConversation {
  const known = new Set(conversation.chat_messages.map(({ uuid }) => uuid));
  const nodes = conversation.chat_messages.map((found, index): RawNode => {
    const place = `chat_messages[${index}]`;
    const role = ROLES[found.sender];
    if (role === undefined)
      throw new PlaceError(`${place}.sender`, `"${found.sender}" is no sender that a conversation has`);
    const content = contentOf(found, place);
    const createdAt = isoOfText(found.created_at);
    return {
      ref: found.uuid,
      parentRef: parentOf(index, conversation.chat_messages, known),
      role,
      ...(content === undefined ? {} : { content }),
      ...(createdAt === undefined ? {} : { createdAt }),
    };
  });
  const updatedAt = isoOfText(conversation.updated_at);
  const leaf = conversation.current_leaf_message_uuid ?? conversation.chat_messages.at(-1)?.uuid ?? null;
  return {
    title: conversation.name || 'Untitled conversation',
    ...pruneTree(nodes, leaf),
    ...(updatedAt === undefined ? {} : { updatedAt }),
  };
}
