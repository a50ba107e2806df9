import * as z from 'zod';

const keySchema = z.array(z.looseObject({ AttributeName: z.string(), KeyType: z.string() }));

const indexSchema = z.looseObject({
  IndexName: z.string(),
  KeySchema: keySchema,
  Projection: z.looseObject({
    ProjectionType: z.string().optional(),
    NonKeyAttributes: z.array(z.string()).optional(),
  }),
  IndexStatus: z.string().optional(),
});

/** A table as far as its keys and indexes go: what a template wants, and what `DescribeTable` tells. */
export const tableShape = z.looseObject({
  TableStatus: z.string().optional(),
  AttributeDefinitions: z.array(z.looseObject({ AttributeName: z.string(), AttributeType: z.string() })),
  KeySchema: keySchema,
  GlobalSecondaryIndexes: z.array(indexSchema).optional(),
  LocalSecondaryIndexes: z.array(indexSchema).optional(),
});

export type TableShape = z.infer<typeof tableShape>;
type Index = z.infer<typeof indexSchema>;

/** Whether two tables have the same primary key and local indexes, which never change once a table is made. */
export function haveSameKeys(left: TableShape, right: TableShape): boolean {
  return fixed(left) === fixed(right);
}

/** The global indexes to delete and to create so that `present` becomes `wanted`; a changed one is in both. */
export function indexChanges(
  present: TableShape,
  wanted: TableShape,
): { readonly remove: readonly string[]; readonly add: readonly string[] } {
  const before = indexTexts(present);
  const after = indexTexts(wanted);
  const differing = (from: ReadonlyMap<string, string>, to: ReadonlyMap<string, string>) =>
    [...from].filter(([name, text]) => to.get(name) !== text).map(([name]) => name);
  return { remove: differing(before, after), add: differing(after, before) };
}

function fixed(table: TableShape): string {
  const local = (table.LocalSecondaryIndexes ?? []).map((index) => indexText(table, index)).sort();
  return JSON.stringify([keysText(table, table.KeySchema), local]);
}

function indexTexts(table: TableShape): ReadonlyMap<string, string> {
  return new Map(
    (table.GlobalSecondaryIndexes ?? []).map((index) => [index.IndexName, indexText(table, index)]),
  );
}

function indexText(table: TableShape, { IndexName, KeySchema, Projection }: Index): string {
  const { ProjectionType = 'ALL', NonKeyAttributes = [] } = Projection;
  return JSON.stringify([
    IndexName,
    keysText(table, KeySchema),
    ProjectionType,
    [...NonKeyAttributes].sort(),
  ]);
}

/** Keys with the types of their attributes, in an order of their own. */
function keysText({ AttributeDefinitions }: TableShape, keys: TableShape['KeySchema']): string {
  const typeOf = (name: string) =>
    AttributeDefinitions.find(({ AttributeName }) => AttributeName === name)?.AttributeType;
  return keys
    .map(({ AttributeName, KeyType }) => `${KeyType} ${AttributeName} ${typeOf(AttributeName)}`)
    .sort()
    .join();
}
