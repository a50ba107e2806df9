import { measureContent } from '../../lib/compaction/estimator/index.ts';
import type { ModelContext } from '../../lib/ports.ts';
import type { MessageContent } from '../../lib/treepath/content.ts';
import { newId } from '../../lib/treepath/ids.ts';
import type { Message, Role } from '../../lib/treepath/message.ts';

export type Line = readonly [role: Role, content: MessageContent];

const NO_SUMS = { tokens: 0, messages: 0, chars: 0, pinned: [] };

/** A linear path of stored messages, as a store would return it. */
export function pathOf(lines: readonly Line[]): Message[] {
  const path: Message[] = [];
  for (const [role, content] of lines) {
    const parentId = path.at(-1)?.id ?? null;
    path.push({
      id: newId(1_700_000_000_000 + path.length * 1_000, parentId),
      channelId: 'channel',
      parentId,
      siblingIndex: 0,
      depth: path.length,
      role,
      content,
      metadata: {},
      ...measureContent(content),
      sums: NO_SUMS,
      createdAt: new Date(1_700_000_000_000).toISOString(),
    });
  }
  return path;
}

/** A context whose boundary is the root: what a plan is made from. */
export function contextOf(messages: readonly Message[]): ModelContext {
  const leaf = messages.at(-1);
  return {
    cursor: {
      channelId: 'channel',
      userId: 'owner',
      leafId: leaf?.id ?? null,
      leafDepth: leaf?.depth ?? -1,
      sums: {
        tokens: messages.reduce((sum, { tokens }) => sum + tokens, 0),
        messages: messages.length,
        chars: messages.reduce((sum, { chars }) => sum + chars, 0),
        pinned: [],
      },
      activeAt: 1_700_000_000_000,
    },
    pinned: [],
    messages,
  };
}

/** `count` turns of a question and an answer, each about `chars` characters. */
export const turnsOf = (count: number, chars = 40): Line[] =>
  Array.from({ length: count }, (_, turn): Line[] => [
    ['user', `question ${turn} `.padEnd(chars, 'q')],
    ['assistant', `answer ${turn} `.padEnd(chars, 'a')],
  ]).flat();

export const call = (id: string, name = 'search'): MessageContent => [
  { type: 'tool_use', id, name, input: { q: id } },
];
export const result = (...ids: string[]): MessageContent =>
  ids.map((id) => ({ type: 'tool_result' as const, tool_use_id: id, content: `result of ${id}` }));
