import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Match } from 'aws-cdk-lib/assertions';
import { ConversationTable } from '../../cdk/constructs/conversation-table.ts';
import { PRESSURE_INDEX, TTL_ATTRIBUTE, tableDefinition } from '../../lib/store/table.ts';
import { onlyResource, resourcesOf, stackTemplate } from './support.ts';

const dev = stackTemplate();
const prod = stackTemplate({ stage: 'prod' });
const TABLE = 'AWS::DynamoDB::Table';

describe('conversation table', () => {
  it('is paid per request, restorable, and expires items by expiresAt', () => {
    dev.hasResourceProperties(TABLE, {
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [
        { AttributeName: 'PK', KeyType: 'HASH' },
        { AttributeName: 'SK', KeyType: 'RANGE' },
      ],
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true },
      StreamSpecification: Match.absent(),
    });
  });

  it('has the sparse pressure index, sorted by a number, with what a scan decides on', () => {
    dev.hasResourceProperties(TABLE, {
      AttributeDefinitions: Match.arrayWith([
        { AttributeName: 'pressurePk', AttributeType: 'S' },
        { AttributeName: 'pressureSk', AttributeType: 'N' },
      ]),
      GlobalSecondaryIndexes: [
        {
          IndexName: 'pressure',
          KeySchema: [
            { AttributeName: 'pressurePk', KeyType: 'HASH' },
            { AttributeName: 'pressureSk', KeyType: 'RANGE' },
          ],
          Projection: {
            ProjectionType: 'INCLUDE',
            NonKeyAttributes: [
              'channelId',
              'userId',
              'activeAt',
              'modelKey',
              'threshold',
              'tokens',
              'messages',
            ],
          },
        },
      ],
    });
  });

  it('is the table that the store is tested against', () => {
    const { TableName: _, ...definition } = tableDefinition('any');
    dev.hasResourceProperties(TABLE, definition);
    dev.hasResourceProperties(TABLE, { TimeToLiveSpecification: { AttributeName: TTL_ATTRIBUTE } });
    assert.equal(ConversationTable.PRESSURE_INDEX, PRESSURE_INDEX);
  });

  it('survives the stack in production and goes with it in development', () => {
    assert.equal(onlyResource(prod, TABLE).Properties.DeletionProtectionEnabled, true);
    assert.equal(onlyResource(prod, TABLE).DeletionPolicy, 'Retain');
    assert.equal(onlyResource(dev, TABLE).Properties.DeletionProtectionEnabled, false);
    assert.equal(onlyResource(dev, TABLE).DeletionPolicy, 'Delete');
  });
});

describe('what is kept of the rest', () => {
  const policies = (type: string) => [
    [...resourcesOf(dev, type).values()].map((resource) => resource.DeletionPolicy),
    [...resourcesOf(prod, type).values()].map((resource) => resource.DeletionPolicy),
  ];

  it('logs for a week in development, for three months and after the stack in production', () => {
    dev.allResourcesProperties('AWS::Logs::LogGroup', { RetentionInDays: 7 });
    prod.allResourcesProperties('AWS::Logs::LogGroup', { RetentionInDays: 90 });
    dev.resourceCountIs('AWS::Logs::LogGroup', 4);
    assert.deepEqual(policies('AWS::Logs::LogGroup'), [Array(4).fill('Delete'), Array(4).fill('Retain')]);
  });

  it('keeps users and the model key in production', () => {
    assert.deepEqual(policies('AWS::Cognito::UserPool'), [['Delete'], ['Retain']]);
    assert.deepEqual(policies('AWS::SecretsManager::Secret'), [['Delete'], ['Retain']]);
    prod.hasResourceProperties('AWS::Cognito::UserPool', { DeletionProtection: 'ACTIVE' });
  });
});

describe('model secret', () => {
  it('is created without a value, so that no random text is ever sent as a key', () => {
    dev.hasResourceProperties('AWS::SecretsManager::Secret', {
      GenerateSecretString: Match.absent(),
      SecretString: Match.absent(),
    });
  });

  it('is an existing one when its ARN is given', () => {
    const modelSecretArn = 'arn:aws:secretsmanager:eu-central-1:123456789012:secret:models/key-a1B2c3';
    const template = stackTemplate({ modelSecretArn });
    template.resourceCountIs('AWS::SecretsManager::Secret', 0);
    template.hasResourceProperties('AWS::Lambda::Function', {
      Environment: { Variables: Match.objectLike({ MODEL_SECRET_ARN: modelSecretArn }) },
    });
  });
});
