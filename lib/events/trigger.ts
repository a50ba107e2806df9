import { InvalidInputError } from '../errors.ts';
import type {
  CompactionMessage,
  CompactionQueue,
  ConversationStore,
  Logger,
  NewId,
  SettingsStore,
} from '../ports.ts';
import { AGENT_THRESHOLD } from '../settings/defaults.ts';
import { limitsOf, readSettings } from '../settings/index.ts';
import { compactionRequest, DETAIL_TYPES, responseGeneration } from './schemas.ts';

export type TriggerDeps = {
  readonly store: ConversationStore & SettingsStore;
  readonly queue: CompactionQueue;
  readonly utilityModel?: string;
  readonly newId: NewId;
  readonly logger: Logger;
};

export type BusEvent = { readonly 'detail-type': string; readonly detail: unknown };

/**
 * Turns an event of the bus into a queue message. Throws `InvalidInputError` for a malformed detail, so that the bus
 * retries and then keeps it with its reason; an event for an unknown channel is a fault of its sender, too.
 */
export function createTrigger(deps: TriggerDeps) {
  return async function onEvent(event: BusEvent): Promise<void> {
    const message = await messageFor(deps, event);
    if (message === undefined) return;
    const unsent = await deps.queue.send([message]);
    if (unsent.length > 0) throw new Error('The compaction queue did not take the message.');
    deps.logger.info('compaction: request queued', {
      channel_id: message.channel_id,
      trigger: message.trigger,
    });
  };
}

function messageFor(deps: TriggerDeps, event: BusEvent): Promise<CompactionMessage | undefined> {
  switch (event['detail-type']) {
    case DETAIL_TYPES.request:
      return requested(deps, event.detail);
    case DETAIL_TYPES.generation:
      return generated(deps, event.detail);
    default:
      throw new InvalidInputError(
        'unknown_event',
        `No handler for the detail type "${event['detail-type']}".`,
      );
  }
}

async function requested({ store, newId }: TriggerDeps, detail: unknown): Promise<CompactionMessage> {
  const parsed = compactionRequest.safeParse(detail);
  if (!parsed.success) throw invalid(DETAIL_TYPES.request, parsed.error.issues);
  const { session_id, auto, user_id, correlation_id } = parsed.data;
  const channel = await store.getChannel(session_id);
  return {
    channel_id: channel.id,
    user_id: user_id ?? channel.ownerId,
    trigger: auto ? 'auto' : 'manual',
    correlation_id: correlation_id ?? newId(),
  };
}

/** C7: asks for a compaction when the turn filled its share of the window. */
async function generated(deps: TriggerDeps, detail: unknown): Promise<CompactionMessage | undefined> {
  const parsed = responseGeneration.safeParse(detail);
  if (!parsed.success) throw invalid(DETAIL_TYPES.generation, parsed.error.issues);
  const { session_id, prompt_tokens, correlation_id } = parsed.data;
  const [channel, settings] = await Promise.all([
    deps.store.getChannel(session_id),
    readSettings(deps.store, deps.utilityModel),
  ]);
  if (prompt_tokens < AGENT_THRESHOLD * limitsOf(channel, settings).budget.tokens) return undefined;
  return {
    channel_id: channel.id,
    user_id: channel.ownerId,
    trigger: 'auto',
    correlation_id: correlation_id ?? deps.newId(),
  };
}

function invalid(
  type: string,
  issues: readonly { path: PropertyKey[]; message: string }[],
): InvalidInputError {
  const places = issues.map(({ path, message }) => `${path.map(String).join('.') || 'detail'}: ${message}`);
  return new InvalidInputError('invalid_event', `${type} is malformed: ${places.join('; ')}`);
}
