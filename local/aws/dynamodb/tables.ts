import * as z from 'zod';
import { EmbeddedAwsError } from '../errors.ts';
import { AwsCallError, type AwsCaller, callAws } from '../support/aws-json.ts';
import { pause } from '../support/wait.ts';
import { flag, noEffect, parseProperties } from '../template/properties.ts';
import type { Resource } from '../template/resolve.ts';
import { haveSameKeys, indexChanges, type TableShape, tableShape } from './shape.ts';

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
  AttributeDefinitions: tableShape.shape.AttributeDefinitions,
  KeySchema: tableShape.shape.KeySchema,
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

/**
 * Creates a table as the template says. One that is in the data folder already keeps its data and gets the template's
 * global indexes; other keys are refused (`data_outdated`), because no data would fit them.
 */
export async function createTable(caller: AwsCaller, resource: Resource): Promise<void> {
  const properties = parseProperties(resource, tableProperties);
  const name = resource.ref;
  const wanted = definition(name, properties);
  const present = await describe(caller, name);
  if (!present) await callAws(caller, 'dynamodb', 'CreateTable', wanted);
  else if (haveSameKeys(present, wanted)) await updateIndexes(caller, name, present, wanted);
  else
    throw new EmbeddedAwsError(
      'data_outdated',
      `The table ${name} in the data folder was made with other keys than ${resource.logicalId} has now: delete the data folder, or start with another one.`,
    );
  await active(caller, name);
  await setTimeToLive(caller, name, properties);
}

/** The input of `CreateTable`. */
function definition(name: string, properties: TableProperties): TableShape {
  const { AttributeDefinitions, KeySchema, BillingMode, ProvisionedThroughput, StreamSpecification } =
    properties;
  const indexes = (list: TableProperties['GlobalSecondaryIndexes']) =>
    list?.map(({ IndexName, KeySchema: keys, Projection, ProvisionedThroughput: throughput }) => ({
      IndexName,
      KeySchema: keys,
      Projection,
      ProvisionedThroughput: throughput,
    }));
  return tableShape.parse({
    TableName: name,
    AttributeDefinitions,
    KeySchema,
    BillingMode,
    ProvisionedThroughput,
    GlobalSecondaryIndexes: indexes(properties.GlobalSecondaryIndexes),
    LocalSecondaryIndexes: indexes(properties.LocalSecondaryIndexes),
    StreamSpecification: StreamSpecification && { StreamEnabled: true, ...StreamSpecification },
  });
}

/** DynamoDB changes one index at a time; a new one is filled from the items that are there. */
async function updateIndexes(
  caller: AwsCaller,
  name: string,
  present: TableShape,
  wanted: TableShape,
): Promise<void> {
  const { remove, add } = indexChanges(present, wanted);
  const changes = [
    ...remove.map((IndexName) => ({ Delete: { IndexName } })),
    ...(wanted.GlobalSecondaryIndexes ?? [])
      .filter(({ IndexName }) => add.includes(IndexName))
      .map((index) => ({ Create: index })),
  ];
  for (const change of changes) {
    await callAws(caller, 'dynamodb', 'UpdateTable', {
      TableName: name,
      AttributeDefinitions: wanted.AttributeDefinitions,
      GlobalSecondaryIndexUpdates: [change],
    });
    await active(caller, name);
  }
}

async function describe(caller: AwsCaller, name: string): Promise<TableShape | undefined> {
  try {
    return tableShape.parse((await callAws(caller, 'dynamodb', 'DescribeTable', { TableName: name })).Table);
  } catch (error) {
    if (error instanceof AwsCallError && error.code === 'ResourceNotFoundException') return undefined;
    throw error;
  }
}

/** Resolves when the table and all of its indexes can be used. */
async function active(caller: AwsCaller, name: string): Promise<void> {
  for (const began = performance.now(); performance.now() - began < ACTIVE_MS; await pause(20)) {
    const table = await describe(caller, name);
    const states = [
      table?.TableStatus,
      ...(table?.GlobalSecondaryIndexes ?? []).map((each) => each.IndexStatus),
    ];
    if (states.every((state) => state === 'ACTIVE')) return;
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
