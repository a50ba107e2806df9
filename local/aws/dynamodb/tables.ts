import * as z from 'zod';
import { EmbeddedAwsError } from '../errors.ts';
import { AwsCallError, type AwsCaller, callAws } from '../support/aws-json.ts';
import { pause } from '../support/wait.ts';
import { flag, noEffect, parseProperties } from '../template/properties.ts';
import type { Resource } from '../template/resolve.ts';

const index = z.strictObject({
  IndexName: z.string(),
  KeySchema: z.unknown(),
  Projection: z.unknown(),
  ProvisionedThroughput: z.unknown().optional(),
  OnDemandThroughput: noEffect,
  ContributorInsightsSpecification: noEffect,
  WarmThroughput: noEffect,
  WriteProvisionedThroughputSettings: noEffect,
  WriteOnDemandThroughputSettings: noEffect,
});

const tableProperties = z.strictObject({
  TableName: z.string().optional(),
  AttributeDefinitions: z.unknown(),
  KeySchema: z.unknown(),
  BillingMode: z.string().default('PAY_PER_REQUEST'),
  ProvisionedThroughput: z.unknown().optional(),
  GlobalSecondaryIndexes: z.array(index).optional(),
  LocalSecondaryIndexes: z.array(index).optional(),
  StreamSpecification: z.looseObject({ StreamViewType: z.string() }).optional(),
  TimeToLiveSpecification: z.strictObject({ AttributeName: z.string().optional(), Enabled: flag }).optional(),
  // Backups, encryption, tags, protection and capacity have no meaning for a folder on one machine.
  PointInTimeRecoverySpecification: noEffect,
  DeletionProtectionEnabled: noEffect,
  SSESpecification: noEffect,
  TableClass: noEffect,
  Tags: noEffect,
  ContributorInsightsSpecification: noEffect,
  OnDemandThroughput: noEffect,
  WarmThroughput: noEffect,
  ResourcePolicy: noEffect,
  Replicas: noEffect,
  WriteProvisionedThroughputSettings: noEffect,
  WriteOnDemandThroughputSettings: noEffect,
});

type TableProperties = z.infer<typeof tableProperties>;

const ACTIVE_MS = 10_000;

/** Creates a table as the template says, or takes the one in the data folder when it is the same. */
export async function createTable(caller: AwsCaller, resource: Resource): Promise<void> {
  const properties = parseProperties(resource, tableProperties);
  const existing = await describe(caller, resource.ref);
  if (existing) sameTable(resource, properties, existing);
  else await callAws(caller, 'dynamodb', 'CreateTable', definition(resource.ref, properties));
  await active(caller, resource.ref);
  await setTimeToLive(caller, resource.ref, properties);
}

function definition(name: string, properties: TableProperties): object {
  const { AttributeDefinitions, KeySchema, BillingMode, ProvisionedThroughput, StreamSpecification } =
    properties;
  const indexes = (list: TableProperties['GlobalSecondaryIndexes']) =>
    list?.map(({ IndexName, KeySchema: keys, Projection, ProvisionedThroughput: throughput }) => ({
      IndexName,
      KeySchema: keys,
      Projection,
      ProvisionedThroughput: throughput,
    }));
  return {
    TableName: name,
    AttributeDefinitions,
    KeySchema,
    BillingMode,
    ProvisionedThroughput,
    GlobalSecondaryIndexes: indexes(properties.GlobalSecondaryIndexes),
    LocalSecondaryIndexes: indexes(properties.LocalSecondaryIndexes),
    StreamSpecification: StreamSpecification && { StreamEnabled: true, ...StreamSpecification },
  };
}

type Description = Readonly<Record<string, unknown>>;

async function describe(caller: AwsCaller, name: string): Promise<Description | undefined> {
  try {
    return (await callAws(caller, 'dynamodb', 'DescribeTable', { TableName: name })).Table as Description;
  } catch (error) {
    if (error instanceof AwsCallError && error.code === 'ResourceNotFoundException') return undefined;
    throw error;
  }
}

function sameTable(resource: Resource, properties: TableProperties, existing: Description): void {
  if (shape(definition(resource.ref, properties) as Description) === shape(existing)) return;
  throw new EmbeddedAwsError(
    'data_outdated',
    `The table ${resource.ref} in the data folder was made with other keys or indexes than ${resource.logicalId} has now: delete the data folder, or start with another one.`,
  );
}

/** Keys and indexes in an order of their own, to compare. */
function shape(table: Description): string {
  type Index = {
    IndexName?: string;
    KeySchema?: unknown;
    Projection?: { NonKeyAttributes?: string[]; ProjectionType?: string };
  };
  const indexes = (list: unknown): unknown[] =>
    ((list ?? []) as Index[])
      .map(({ IndexName, KeySchema, Projection }) => [
        IndexName,
        keys(KeySchema),
        Projection?.ProjectionType,
        [...(Projection?.NonKeyAttributes ?? [])].sort(),
      ])
      .sort();
  const keys = (list: unknown): string[] =>
    ((list ?? []) as { AttributeName: string; KeyType: string }[])
      .map((key) => `${key.KeyType} ${key.AttributeName}`)
      .sort();
  const definitions = (
    (table.AttributeDefinitions ?? []) as { AttributeName: string; AttributeType: string }[]
  )
    .map((attribute) => `${attribute.AttributeName} ${attribute.AttributeType}`)
    .sort();
  return JSON.stringify([
    definitions,
    keys(table.KeySchema),
    indexes(table.GlobalSecondaryIndexes),
    indexes(table.LocalSecondaryIndexes),
  ]);
}

async function active(caller: AwsCaller, name: string): Promise<void> {
  for (const began = performance.now(); performance.now() - began < ACTIVE_MS; await pause(20)) {
    if ((await describe(caller, name))?.TableStatus === 'ACTIVE') return;
  }
  throw new EmbeddedAwsError(
    'engine_failed',
    `The table ${name} did not become active within ${ACTIVE_MS / 1000} s.`,
  );
}

async function setTimeToLive(caller: AwsCaller, name: string, properties: TableProperties): Promise<void> {
  const wanted = properties.TimeToLiveSpecification;
  if (!wanted?.Enabled) return;
  const { TimeToLiveDescription: present } = await callAws(caller, 'dynamodb', 'DescribeTimeToLive', {
    TableName: name,
  });
  if ((present as { TimeToLiveStatus?: string } | undefined)?.TimeToLiveStatus === 'ENABLED') return;
  await callAws(caller, 'dynamodb', 'UpdateTimeToLive', { TableName: name, TimeToLiveSpecification: wanted });
}
