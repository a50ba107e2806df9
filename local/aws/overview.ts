import { secretName } from './secrets.ts';
import { runs } from './template/names.ts';
import type { Resource } from './template/resolve.ts';
import type { Account, RunningResource } from './types.ts';
import type { Wiring } from './wiring.ts';

/** Routes, permissions and the like say nothing to a person who asks what runs. */
const TOLD = new Set([
  'AWS::DynamoDB::Table',
  'AWS::DynamoDB::GlobalTable',
  'AWS::SQS::Queue',
  'AWS::Lambda::Function',
  'AWS::Lambda::EventSourceMapping',
  'AWS::Events::EventBus',
  'AWS::Events::Rule',
  'AWS::Scheduler::Schedule',
  'AWS::ApiGatewayV2::Api',
  'AWS::Cognito::UserPool',
  'AWS::SecretsManager::Secret',
]);

/** What runs where, in the order of the template. */
export function describeResources(
  resources: readonly Resource[],
  parts: { account: Account; dynamodb: string; wiring: Wiring },
): readonly RunningResource[] {
  return resources
    .filter(({ type }) => runs(type) && TOLD.has(type))
    .map((resource) => ({
      logicalId: resource.logicalId,
      type: resource.type,
      name: nameOf(resource),
      runs: where(resource, parts),
    }));
}

function nameOf({ type, ref, attributes, properties, logicalId }: Resource): string {
  if (type === 'AWS::SecretsManager::Secret') return secretName(ref);
  return (
    attributes.QueueName ??
    (typeof properties.Name === 'string' ? properties.Name : ref.startsWith('arn:') ? logicalId : ref)
  );
}

function where(
  { type, ref, attributes, properties }: Resource,
  { account, dynamodb, wiring }: { account: Account; dynamodb: string; wiring: Wiring },
): string {
  switch (type) {
    case 'AWS::DynamoDB::Table':
    case 'AWS::DynamoDB::GlobalTable':
      return dynamodb;
    case 'AWS::SQS::Queue':
      return ref;
    case 'AWS::Lambda::Function': {
      const reserved = wiring.functions.find(({ config }) => config.name === ref)?.reserved;
      return `child processes${reserved === undefined ? '' : `, at most ${reserved} at once`}`;
    }
    case 'AWS::Lambda::EventSourceMapping': {
      const mapping = wiring.mappings.find(({ id }) => id === ref);
      return mapping ? `${mapping.queue.name} → ${mapping.target.config.label}` : '';
    }
    case 'AWS::Scheduler::Schedule':
      return String(properties.ScheduleExpression);
    case 'AWS::ApiGatewayV2::Api':
      return account.apiUrl;
    case 'AWS::Cognito::UserPool':
      return attributes.ProviderURL ?? '';
    default:
      return account.gatewayUrl;
  }
}
