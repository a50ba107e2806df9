import * as z from 'zod';
import { ROLES } from '../../lib/treepath/message.ts';
import { contentFrom } from './blocks.ts';
import { pruneTree } from './tree.ts';
import { type ImportedConversation, PlaceError, type RawNode } from './types.ts';

const message = z.looseObject({
  parentId: z.string().nullish(),
  role: z.string(),
  content: z.unknown(),
  timestamp: z.number().nullish(),
});

export const openWebuiExport = z.looseObject({
  title: z.string().nullish(),
  history: z.looseObject({ messages: z.record(z.string(), message), currentId: z.string().nullish() }),
});

const isRole = (role: string): role is RawNode['role'] => ROLES.some((known) => known === role);

const iso = (seconds: number | null | undefined): string | undefined =>
  typeof seconds === 'number' ? new Date(seconds * 1_000).toISOString() : undefined;

export function fromOpenWebui(conversation: z.output<typeof openWebuiExport>): ImportedConversation {
  const { messages, currentId } = conversation.history;
  const nodes = Object.entries(messages).map(([ref, found]): RawNode => {
    const place = `history.messages.${ref}`;
    if (!isRole(found.role))
      throw new PlaceError(`${place}.role`, `"${found.role}" is no role that a conversation has`);
    const content = contentFrom(found.content, `${place}.content`);
    const createdAt = iso(found.timestamp);
    return {
      ref,
      parentRef: found.parentId ?? null,
      role: found.role,
      ...(content === undefined ? {} : { content }),
      ...(createdAt === undefined ? {} : { createdAt }),
    };
  });
  return { title: conversation.title ?? 'Untitled conversation', ...pruneTree(nodes, currentId ?? null) };
}
