import type { CreateTableCommandInput } from '@aws-sdk/client-dynamodb';

export const PRESSURE_INDEX = 'pressure';
export const TTL_ATTRIBUTE = 'expiresAt';

/** The table as `CreateTable` takes it; the stack declares the same (an infrastructure test holds them together). */
export const tableDefinition = (name: string): CreateTableCommandInput => ({
  TableName: name,
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [
    { AttributeName: 'PK', AttributeType: 'S' },
    { AttributeName: 'SK', AttributeType: 'S' },
    { AttributeName: 'pressurePk', AttributeType: 'S' },
    { AttributeName: 'pressureSk', AttributeType: 'N' },
  ],
  KeySchema: [
    { AttributeName: 'PK', KeyType: 'HASH' },
    { AttributeName: 'SK', KeyType: 'RANGE' },
  ],
  GlobalSecondaryIndexes: [
    {
      IndexName: PRESSURE_INDEX,
      KeySchema: [
        { AttributeName: 'pressurePk', KeyType: 'HASH' },
        { AttributeName: 'pressureSk', KeyType: 'RANGE' },
      ],
      Projection: {
        ProjectionType: 'INCLUDE',
        NonKeyAttributes: ['channelId', 'userId', 'activeAt', 'modelKey', 'threshold', 'tokens', 'messages'],
      },
    },
  ],
});
