import { type EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { StoreError } from '../errors.ts';
import type { EventPublisher } from '../ports.ts';
import { compactionResult, DETAIL_TYPES, EVENT_SOURCE } from './schemas.ts';

/** Publishes to the custom bus. Throws when the bus refuses the event. */
export function createEventPublisher(client: EventBridgeClient, busName: string): EventPublisher {
  return {
    async publishResult(event) {
      const { Entries } = await client.send(
        new PutEventsCommand({
          Entries: [
            {
              EventBusName: busName,
              Source: EVENT_SOURCE,
              DetailType: DETAIL_TYPES.result,
              Detail: JSON.stringify(compactionResult.parse(event)),
            },
          ],
        }),
      );
      const refused = Entries?.find(({ ErrorCode }) => ErrorCode !== undefined);
      if (refused) {
        throw new StoreError('event_refused', `The event bus refused the event: ${refused.ErrorCode}.`, {
          retryable: true,
        });
      }
    },
  };
}
