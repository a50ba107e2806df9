import { ROLES } from '../../lib/treepath/message.ts';
import { contentFrom } from './blocks.ts';
import { isoOfText } from './times.ts';
import { pruneTree } from './tree.ts';
import { type ImportedConversation, PlaceError, type RawNode } from './types.ts';

const isRole = (role: unknown): role is RawNode['role'] => ROLES.some((known) => known === role);

type Fields = Record<string, unknown>;

/** Calls and answers as the chat completions API writes them, brought into blocks. */
function blocksFrom({ role, content, tool_calls, tool_call_id }: Fields): unknown {
  if (role === 'tool' && typeof tool_call_id === 'string') {
    return [
      {
        type: 'tool_result',
        tool_use_id: tool_call_id,
        content: typeof content === 'string' ? content : JSON.stringify(content),
      },
    ];
  }
  if (!Array.isArray(tool_calls)) return content;
  const text = typeof content === 'string' && content !== '' ? [{ type: 'text', text: content }] : [];
  const calls = tool_calls.map((call) => {
    const { id, function: called } = (call ?? {}) as {
      id?: unknown;
      function?: { name?: unknown; arguments?: unknown };
    };
    return { type: 'tool_use', id, name: called?.name, input: argumentsOf(called?.arguments) };
  });
  return [...text, ...calls];
}

function argumentsOf(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

/** Ids are written as texts or as numbers. */
const nameOf = (id: unknown): string | undefined =>
  typeof id === 'string' || typeof id === 'number' ? String(id) : undefined;

function nodeOf(value: unknown, index: number, place: string): RawNode {
  const fields = (typeof value === 'object' && value !== null ? value : {}) as Fields;
  if (!isRole(fields.role)) {
    throw new PlaceError(
      `${place}.role`,
      fields.role === undefined
        ? 'a message has no role'
        : `"${String(fields.role)}" is no role that a conversation has`,
    );
  }
  const content = contentFrom(blocksFrom(fields), `${place}.content`);
  const createdAt = isoOfText(fields.created_at);
  const ref = nameOf(fields.id) ?? `${index + 1}`;
  return {
    ref,
    parentRef: null,
    role: fields.role,
    ...(content === undefined ? {} : { content }),
    ...(createdAt === undefined ? {} : { createdAt }),
  };
}

/** Messages in a row; those that say `parent_id` make a tree. */
export function fromPlain(
  values: readonly unknown[],
  title: string,
  placeOf: (index: number) => string,
): ImportedConversation {
  const nodes = values.map((value, index) => nodeOf(value, index, placeOf(index)));
  const linked = nodes.map((node, index): RawNode => {
    const { parent_id } = values[index] as Fields;
    const previous = nodes[index - 1]?.ref ?? null;
    return {
      ...node,
      parentRef: parent_id === undefined ? previous : parent_id === null ? null : String(parent_id),
    };
  });
  return { title, ...pruneTree(linked, linked.at(-1)?.ref ?? null) };
}
