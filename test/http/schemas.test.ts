import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type * as z from 'zod';
import { fieldErrorsOf } from '../../lib/http/invalid-request.ts';
import * as schemas from '../../lib/http/schemas.ts';

const message = { ref: 'a', parent_ref: null, role: 'user', content: 'x' };

/** One right input of every body and query. */
const RIGHT: [z.ZodType, object][] = [
  [schemas.createChannelBody, { title: 't', settings: { auto_compaction: false, compaction_threshold: 1 } }],
  [schemas.importChannelBody, { title: 't', messages: [message], current_ref: 'a' }],
  [
    schemas.patchChannelBody,
    { settings: { auto_compaction: null, compaction_threshold: null }, model: null },
  ],
  [
    schemas.appendBody,
    { role: 'tool', content: [{ type: 'tool_result', tool_use_id: 't' }], parent_id: null },
  ],
  [schemas.cursorBody, { message_id: 'm' }],
  [schemas.summarizeBody, { until: 'm', instructions: 'i' }],
  [schemas.settingBody, { value: 0.7 }],
  [schemas.modelBody, { max_context: 8_000 }],
  [schemas.listQuery, { limit: '200', cursor: 'c' }],
  [schemas.pathQuery, { limit: '1', before: 'm' }],
  [schemas.contextQuery, { leaf_id: 'm' }],
  [schemas.usageQuery, { day: '2024-02-29' }],
  [schemas.auditQuery, { month: '2026-12' }],
];

const fieldsOf = (schema: z.ZodType, input: unknown): string[] => {
  const { error } = schema.safeParse(input);
  return error === undefined ? [] : fieldErrorsOf(error).map(({ field }) => field);
};

describe('schemas', () => {
  it('take what is right and refuse every unknown key', () => {
    for (const [schema, input] of RIGHT) {
      assert.deepEqual(fieldsOf(schema, input), [], JSON.stringify(input));
      assert.deepEqual(fieldsOf(schema, { ...input, unknown: 1 }), ['(body)'], JSON.stringify(input));
    }
  });

  it('refuse wrong types and values by the field', () => {
    const cases: [z.ZodType, unknown, string[]][] = [
      [schemas.createChannelBody, [], ['(body)']],
      [schemas.createChannelBody, null, ['(body)']],
      [schemas.createChannelBody, { title: '' }, ['title']],
      [schemas.createChannelBody, { title: 5, type: 'secret' }, ['title', 'type']],
      [
        schemas.createChannelBody,
        { title: 't', settings: { compaction_threshold: 0 } },
        ['settings.compaction_threshold'],
      ],
      [
        schemas.createChannelBody,
        { title: 't', settings: { compaction_threshold: 70 } },
        ['settings.compaction_threshold'],
      ],
      [
        schemas.createChannelBody,
        { title: 't', settings: { auto_compaction: 'yes' } },
        ['settings.auto_compaction'],
      ],
      [schemas.createChannelBody, { title: 't', settings: { threshold: 0.5 } }, ['settings']],
      [
        schemas.importChannelBody,
        { title: 't', messages: [{ ...message, role: 'robot' }], current_ref: null },
        ['messages.0.role'],
      ],
      [schemas.importChannelBody, { title: 't', messages: [message] }, ['current_ref']],
      [
        schemas.importChannelBody,
        { title: 't', updated_at: 'today', messages: [], current_ref: null },
        ['updated_at'],
      ],
      [schemas.appendBody, { role: 'user' }, ['content']],
      [schemas.appendBody, { role: 'user', content: 'x', reported_tokens: -1 }, ['reported_tokens']],
      [schemas.appendBody, { role: 'user', content: 'x', reported_tokens: 1.5 }, ['reported_tokens']],
      [schemas.appendBody, { role: 'user', content: 'x', parent_id: '' }, ['parent_id']],
      [schemas.summarizeBody, { instructions: 'x'.repeat(2_001) }, ['instructions']],
      [schemas.modelBody, { max_context: '8000' }, ['max_context']],
      [schemas.listQuery, { limit: '0' }, ['limit']],
      [schemas.listQuery, { limit: '1.5' }, ['limit']],
      [schemas.pathQuery, { limit: 'ten' }, ['limit']],
      [schemas.usageQuery, { day: '2026-02-30' }, ['day']],
      [schemas.auditQuery, { month: '2026-13' }, ['month']],
    ];
    for (const [schema, input, fields] of cases) {
      assert.deepEqual(fieldsOf(schema, input), fields, JSON.stringify(input).slice(0, 200));
    }
  });

  it('say which part of a block is wrong', () => {
    const content = (...blocks: unknown[]) => ({ role: 'user', content: blocks });
    const right = { type: 'text', text: 'x' };
    assert.deepEqual(fieldsOf(schemas.appendBody, content(right, { type: 'text' })), ['content.1.text']);
    assert.deepEqual(fieldsOf(schemas.appendBody, content({ type: 'poem' })), ['content.0.type']);
    assert.deepEqual(
      fieldsOf(schemas.appendBody, content({ type: 'tool_use', id: '', name: 'n', input: {} })),
      ['content.0.id'],
    );
    assert.deepEqual(fieldsOf(schemas.appendBody, { role: 'user', content: 7 }), ['content']);
  });

  it('an Idempotency-Key is never empty', () => {
    assert.deepEqual(fieldsOf(schemas.appendHeaders, { 'Idempotency-Key': undefined }), []);
    assert.deepEqual(fieldsOf(schemas.appendHeaders, { 'Idempotency-Key': '' }), ['Idempotency-Key']);
  });
});
