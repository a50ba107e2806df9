import * as events from 'aws-cdk-lib/aws-events';
import { Construct } from 'constructs';

/** The bus on which the chat application reports turns and hears about compactions. */
export class ConversationBus extends Construct {
  readonly bus: events.EventBus;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.bus = new events.EventBus(this, 'Bus', {
      description: 'Turns of conversations in, compactions and their results out.',
    });
  }
}
