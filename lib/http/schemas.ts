import * as z from 'zod';
import { messageContent } from '../treepath/content.ts';
import { ROLES } from '../treepath/message.ts';

const title = z.string().min(1).max(300);
const id = z.string().min(1).max(128);
const metadata = z.record(z.string(), z.unknown());

const channelSettings = z.strictObject({
  auto_compaction: z.boolean().optional(),
  compaction_threshold: z.number().gt(0).lte(1).optional(),
});

const newChannel = {
  title,
  type: z.enum(['direct', 'group']).default('direct'),
  model: id.optional(),
  provider_config_id: id.optional(),
  team_id: id.optional(),
  settings: channelSettings.default({}),
};

export const createChannelBody = z.strictObject(newChannel);

export const importChannelBody = z.strictObject({
  ...newChannel,
  /** Last activity; an import of old talk is not new talk. */
  updated_at: z.iso.datetime({ offset: true }).optional(),
  messages: z
    .array(
      z.strictObject({
        ref: id,
        parent_ref: id.nullable(),
        role: z.enum(ROLES),
        content: messageContent,
        created_at: z.iso.datetime({ offset: true }).optional(),
        metadata: metadata.optional(),
      }),
    )
    .max(20_000),
  current_ref: id.nullable(),
});

export const patchChannelBody = z.strictObject({
  title: title.optional(),
  archived: z.boolean().optional(),
  model: id.nullable().optional(),
  /** `null` goes back to the inherited value. */
  settings: z
    .strictObject({
      auto_compaction: z.boolean().nullable().optional(),
      compaction_threshold: z.number().gt(0).lte(1).nullable().optional(),
    })
    .optional(),
});

export const appendBody = z.strictObject({
  role: z.enum(ROLES),
  content: messageContent,
  parent_id: id.nullable().optional(),
  branch: z.boolean().optional(),
  metadata: metadata.optional(),
  reported_tokens: z.int().min(0).max(100_000_000).optional(),
});

/** A key that is empty would make two different messages one. */
export const appendHeaders = z.object({ 'Idempotency-Key': z.string().min(1).max(255).optional() });

export const cursorBody = z.strictObject({ message_id: id });

export const summarizeBody = z.strictObject({
  until: id.optional(),
  instructions: z.string().min(1).max(2_000).optional(),
});

export const settingBody = z.strictObject({ value: z.unknown() });
export const modelBody = z.strictObject({ max_context: z.int().min(256).max(100_000_000) });

const limit = z.coerce.number().int().min(1).max(200);
export const listQuery = z.strictObject({ limit: limit.default(50), cursor: id.optional() });
export const pathQuery = z.strictObject({ limit: limit.default(100), before: id.optional() });
export const contextQuery = z.strictObject({ leaf_id: id.optional() });
export const usageQuery = z.strictObject({ day: z.iso.date() });
export const auditQuery = z.strictObject({
  month: z.string().regex(/^\d{4}-(0[1-9]|1[0-2])$/, 'Use YYYY-MM.'),
});

/** Leaves out what is `undefined`, so that an optional field stays absent in the domain. */
export function defined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, v]) => v !== undefined)) as never;
}
