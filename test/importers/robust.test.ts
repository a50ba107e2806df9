import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { importChannelBody } from '../../lib/http/schemas.ts';
import { toImportBody } from '../../local/cli/conversations.ts';
import { ImportError, parseConversations } from '../../local/importers/index.ts';

const said = (role: string, text: string, parent: string | null) => ({
  parent,
  message: {
    author: { role },
    create_time: 1_700_000_000.5,
    content: { content_type: 'text', parts: [text] },
  },
});

const EXPORTS: readonly unknown[] = [
  [
    {
      title: 'C',
      update_time: 1,
      mapping: { r: { parent: null }, q: said('user', 'x', 'r'), a: said('assistant', 'y', 'q') },
      current_node: 'a',
    },
  ],
  {
    name: 'L',
    updated_at: '2025-01-01T00:00:00Z',
    chat_messages: [
      { uuid: '1', sender: 'human', text: 'x', attachments: [{ file_name: 'f', extracted_content: 'e' }] },
      {
        uuid: '2',
        sender: 'assistant',
        content: [
          { type: 'tool_use', name: 'n', input: {} },
          { type: 'tool_result', content: 'r' },
        ],
      },
    ],
  },
  {
    title: 'W',
    chat: {
      history: {
        currentId: 'b',
        messages: {
          a: {
            parentId: null,
            role: 'user',
            content: 'q',
            timestamp: 5,
            files: [{ type: 'image', url: 'u' }],
          },
          b: { parentId: 'a', role: 'assistant', content: 'x' },
        },
      },
    },
  },
  {
    title: 'P',
    messages: [
      { id: 1, role: 'user', content: [{ type: 'image', source: { type: 'url', url: 'u' } }] },
      {
        id: 2,
        parent_id: 1,
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c', function: { name: 'f', arguments: '{}' } }],
        created_at: '2025-01-01T00:00:00Z',
      },
      { id: 3, parent_id: 2, role: 'tool', tool_call_id: 'c', content: 'o' },
    ],
    continues: [{ role: 'user', content: 'more' }],
  },
];

const ODD = fc.constantFrom<unknown>(
  null,
  '',
  'x',
  0,
  -1,
  1e20,
  true,
  [],
  {},
  [null],
  'i'.repeat(200),
  '\ud800',
  '2025-13-45',
);

type Path = readonly string[];

const pathsOf = (value: unknown): Path[] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([key, inner]) => [
        [key],
        ...pathsOf(inner).map((rest) => [key, ...rest]),
      ])
    : [];

/** A copy with another value at the path; `undefined` removes it. */
function replaced(value: unknown, [key, ...rest]: Path, odd: unknown): unknown {
  if (key === undefined) return odd;
  const copy: Record<string, unknown> = Array.isArray(value)
    ? Object.assign([], value)
    : Object.assign({}, value);
  copy[key] = replaced(copy[key], rest, odd);
  return copy;
}

const damaged = fc
  .constantFrom(...EXPORTS)
  .chain((value) =>
    fc
      .tuple(fc.constantFrom(...pathsOf(value)), fc.option(ODD, { nil: undefined }))
      .map(([path, odd]) => replaced(value, path, odd)),
  );

/** What comes out is what the API takes, or nothing comes out and the reason is told. */
function taken(text: string): boolean {
  try {
    for (const conversation of parseConversations(text, 'talk.json'))
      importChannelBody.parse(toImportBody(conversation, { lastActiveAt: new Date(0) }));
    return true;
  } catch (error) {
    if (!(error instanceof ImportError)) throw error;
    assert.match(error.message, /^talk\.json: .+/);
    return false;
  }
}

describe('files that somebody else wrote', () => {
  it('the exports themselves are taken', () => {
    for (const value of EXPORTS) assert.equal(taken(JSON.stringify(value)), true);
  });

  it('with anything odd anywhere in them: taken by the API, or refused here in a sentence', () => {
    fc.assert(
      fc.property(damaged, (value) => void taken(JSON.stringify(value))),
      { numRuns: 2_000 },
    );
  });

  it('cut off anywhere: told as cut off, with the place where it ends', () => {
    const cut = fc
      .constantFrom(...EXPORTS.map((value) => JSON.stringify(value)))
      .chain((text) => fc.integer({ min: 1, max: text.length - 1 }).map((length) => text.slice(0, length)));
    fc.assert(
      fc.property(cut, (text) => {
        assert.throws(() => parseConversations(text, 'talk.json'), {
          message: `talk.json: line 1, column ${text.length + 1}: the JSON ends too early; is the file cut off?`,
        });
      }),
      { numRuns: 1_000 },
    );
  });
});
