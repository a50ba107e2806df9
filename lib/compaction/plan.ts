import type { ModelContext } from '../ports.ts';
import type { Profile } from '../settings/profiles.ts';
import type { Message, Trigger } from '../treepath/message.ts';
import { isTurnInFlight, splitTurns } from '../treepath/turns.ts';

export type Plan = {
  /** In path order; never empty. The first is `coversFrom`, the last `coversUntil`. */
  readonly summarize: readonly Message[];
  /** Stays verbatim above the summary. */
  readonly keep: readonly Message[];
  readonly keptTurns: number;
};

export type PlanResult =
  | { readonly kind: 'plan'; readonly plan: Plan }
  | {
      readonly kind: 'skip';
      readonly reason: 'too_few_messages' | 'turn_in_flight' | 'until_not_in_context';
    };

export type PlanInput = {
  readonly context: Pick<ModelContext, 'messages' | 'cursor'>;
  readonly profile: Profile;
  readonly budgetTokens: number;
  readonly trigger: Trigger;
  /** Cover up to the end of the turn that holds this message. */
  readonly until?: string;
};

const tokensOf = (messages: readonly Message[]): number =>
  messages.reduce((sum, message) => sum + message.tokens, 0);

/** Newest turns that may stay: at most `keepTurns`, within the token cap, and never all of them. */
function tailTurns(turns: readonly (readonly Message[])[], input: PlanInput, inFlight: boolean): number {
  const cap = input.budgetTokens * input.profile.keepMaxRatio;
  const most = Math.min(input.profile.keepTurns, turns.length - 1);
  let kept = 0;
  let tokens = 0;
  for (const turn of turns.toReversed()) {
    tokens += tokensOf(turn);
    if (kept >= most || tokens > cap) break;
    kept += 1;
  }
  // An unanswered turn is still being written to: covering it would part a call from its result.
  return inFlight ? Math.max(kept, 1) : kept;
}

const tooFew = ({ context, profile, trigger }: PlanInput): boolean =>
  context.messages.length < profile.minSinceBoundary[trigger] ||
  context.cursor.leafDepth + 1 < profile.minPath[trigger];

/**
 * Decides what a compaction covers and what it keeps (design 3 and 6.3). Every cut falls on a turn start, so a tool
 * call is never parted from its result. Minimums of A6 and A19.
 */
export function planCompaction(input: PlanInput): PlanResult {
  const { messages } = input.context;
  if (tooFew(input)) return { kind: 'skip', reason: 'too_few_messages' };
  const inFlight = isTurnInFlight(messages);
  if (inFlight && input.trigger === 'auto') return { kind: 'skip', reason: 'turn_in_flight' };

  const turns = splitTurns(messages);
  let covered = turns.length - tailTurns(turns, input, inFlight);
  if (input.until !== undefined) {
    const turn = turns.findIndex((candidates) => candidates.some(({ id }) => id === input.until));
    if (turn < 0) return { kind: 'skip', reason: 'until_not_in_context' };
    covered = Math.min(turn + 1, inFlight ? turns.length - 1 : turns.length);
  }
  if (covered < 1) return { kind: 'skip', reason: 'too_few_messages' };
  const kept = turns.slice(covered);
  return {
    kind: 'plan',
    plan: { summarize: turns.slice(0, covered).flat(), keep: kept.flat(), keptTurns: kept.length },
  };
}
