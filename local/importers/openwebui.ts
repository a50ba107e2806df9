import * as z from 'zod';
import { blocksOf, type MessageContent } from '../../lib/treepath/content.ts';
import { ROLES } from '../../lib/treepath/message.ts';
import { contentFrom } from './blocks.ts';
import { imageReference, simplified } from './content.ts';
import { isoOfSeconds } from './times.ts';
import { pruneTree } from './tree.ts';
import { type ImportedConversation, PlaceError, type RawNode } from './types.ts';

const message = z.looseObject({
  parentId: z.string().nullish(),
  role: z.string(),
  content: z.unknown().optional(),
  timestamp: z.number().nullish(),
  files: z.array(z.looseObject({ type: z.string().optional(), url: z.unknown().optional() })).nullish(),
});

export const openWebuiExport = z.looseObject({
  title: z.string().nullish(),
  history: z.looseObject({ messages: z.record(z.string(), message), currentId: z.string().nullish() }),
});

type Message = z.output<typeof message>;

/** What was said, and the pictures that were sent with it. */
function contentOf({ content, files }: Message, place: string): MessageContent | undefined {
  const own = contentFrom(content, place);
  const images = (files ?? []).filter(({ type }) => type === 'image').map(imageReference);
  return simplified([...images, ...(own === undefined ? [] : blocksOf(own))]);
}

const isRole = (role: string): role is RawNode['role'] => ROLES.some((known) => known === role);

export function fromOpenWebui(conversation: z.output<typeof openWebuiExport>): ImportedConversation {
  const { messages, currentId } = conversation.history;
  const nodes = Object.entries(messages).map(([ref, found]): RawNode => {
    const place = `history.messages.${ref}`;
    if (!isRole(found.role))
      throw new PlaceError(`${place}.role`, `"${found.role}" is no role that a conversation has`);
    const content = contentOf(found, `${place}.content`);
    const createdAt = isoOfSeconds(found.timestamp);
    return {
      ref,
      parentRef: found.parentId ?? null,
      role: found.role,
      ...(content === undefined ? {} : { content }),
      ...(createdAt === undefined ? {} : { createdAt }),
    };
  });
  return { title: conversation.title || 'Untitled conversation', ...pruneTree(nodes, currentId ?? null) };
}
