import { blocksOf } from './content.ts';
import type { Message } from './message.ts';

type Turns = readonly (readonly Message[])[];

const callsOf = (message: Pick<Message, 'content'>): string[] =>
  blocksOf(message.content).flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));

const resultsOf = (message: Pick<Message, 'content'>): string[] =>
  blocksOf(message.content).flatMap((block) => (block.type === 'tool_result' ? [block.tool_use_id] : []));

/** A person speaks: a user message that holds more than tool results. */
export function startsTurn(message: Pick<Message, 'role' | 'content'>): boolean {
  if (message.role !== 'user') return false;
  return (
    typeof message.content === 'string' ||
    !message.content.every(({ type }) => type === 'tool_result') ||
    message.content.length === 0
  );
}

/**
 * Splits a path into turns: a user message and all that answers it; what stands before the first user message is a
 * turn of its own. A call and its results stay together even when a person spoke in between (field case: orphaned
 * tool results); a call that is never answered holds nothing together.
 */
export function splitTurns(messages: readonly Message[]): Turns {
  const lastResult = lastResultIndexes(messages);
  const turns: Message[][] = [];
  let openUntil = -1;
  messages.forEach((message, index) => {
    const current = turns.at(-1);
    if (current === undefined || (startsTurn(message) && index > openUntil)) turns.push([message]);
    else current.push(message);
    for (const id of callsOf(message)) openUntil = Math.max(openUntil, lastResult.get(id) ?? -1);
  });
  return turns;
}

function lastResultIndexes(messages: readonly Message[]): Map<string, number> {
  const indexes = new Map<string, number>();
  messages.forEach((message, index) => {
    for (const id of resultsOf(message)) indexes.set(id, index);
  });
  return indexes;
}

/** A turn is in flight when a person or a tool spoke last, or a call of the last turn has no result yet. */
export function isTurnInFlight(messages: readonly Message[]): boolean {
  const last = messages.at(-1);
  if (last === undefined) return false;
  if (last.role === 'user' || last.role === 'tool') return true;
  const turn = splitTurns(messages).at(-1) ?? [];
  const answered = new Set(turn.flatMap(resultsOf));
  return turn.flatMap(callsOf).some((id) => !answered.has(id));
}
