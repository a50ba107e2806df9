import * as z from 'zod';
import type { ContentBlock, MessageContent } from '../../lib/treepath/content.ts';
import { imageReference, simplified, textBlock } from './content.ts';
import { isoOfSeconds } from './times.ts';
import { pruneTree } from './tree.ts';
import { type ImportedConversation, PlaceError, type RawNode } from './types.ts';

const message = z.looseObject({
  author: z.looseObject({ role: z.string() }),
  create_time: z.number().nullish(),
  content: z.looseObject({
    content_type: z.string(),
    parts: z.array(z.unknown()).optional(),
    text: z.string().nullish(),
    result: z.string().nullish(),
  }),
  metadata: z.looseObject({ is_visually_hidden_from_conversation: z.boolean().optional() }).nullish(),
});

export const chatgptExport = z.looseObject({
  title: z.string().nullish(),
  update_time: z.number().nullish(),
  current_node: z.string().nullish(),
  mapping: z.record(z.string(), z.looseObject({ parent: z.string().nullish(), message: message.nullish() })),
});

type Message = z.output<typeof message>;

const ROLES = new Set(['system', 'user', 'assistant', 'tool']);

function partBlock(part: unknown): ContentBlock | undefined {
  if (typeof part === 'string') return part === '' ? undefined : textBlock(part);
  if (typeof part !== 'object' || part === null) return undefined;
  const { content_type, asset_pointer, text } = part as Record<string, unknown>;
  if (content_type === 'image_asset_pointer') return imageReference({ type: 'url', url: asset_pointer });
  return typeof text === 'string' ? textBlock(text) : undefined;
}

/** What a person saw of a node; hidden ones and the model's own notes on the user hold nothing. */
function contentOf({ content, metadata }: Message): MessageContent | undefined {
  if (metadata?.is_visually_hidden_from_conversation === true) return undefined;
  const text = content.text ?? content.result;
  if (typeof text === 'string') return text === '' ? undefined : text;
  const blocks = (content.parts ?? []).flatMap((part) => partBlock(part) ?? []);
  return simplified(blocks);
}

function nodeOf(ref: string, parent: string | null, found: Message | null | undefined): RawNode {
  if (!found) return { ref, parentRef: parent, role: 'system' };
  const { role } = found.author;
  if (!ROLES.has(role))
    throw new PlaceError(
      `mapping.${ref}.message.author.role`,
      `"${role}" is no role that a conversation has`,
    );
  const content = contentOf(found);
  const createdAt = isoOfSeconds(found.create_time);
  return {
    ref,
    parentRef: parent,
    role: role as RawNode['role'],
    ...(content === undefined ? {} : { content }),
    ...(createdAt === undefined ? {} : { createdAt }),
  };
}

export function fromChatgpt(conversation: z.output<typeof chatgptExport>): ImportedConversation {
  const nodes = Object.entries(conversation.mapping).map(([ref, { parent, message: found }]) =>
    nodeOf(ref, parent ?? null, found),
  );
  const updatedAt = isoOfSeconds(conversation.update_time);
  return {
    title: conversation.title || 'Untitled conversation',
    ...pruneTree(nodes, conversation.current_node ?? null),
    ...(updatedAt === undefined ? {} : { updatedAt }),
  };
}
