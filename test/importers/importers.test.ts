import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ImportError, parseConversations } from '../../local/importers/index.ts';

const parse = (value: unknown, file = 'talk.json') =>
  parseConversations(typeof value === 'string' ? value : JSON.stringify(value), file);

const shape = (conversation: ReturnType<typeof parse>[number] | undefined) =>
  conversation?.messages.map(({ ref, parentRef, role, content }) => [ref, parentRef, role, content]);

const node = (parent: string | null, role?: string, parts?: unknown[], more: object = {}) => ({
  parent,
  message:
    role === undefined
      ? null
      : { author: { role }, create_time: 1_700_000_000, content: { content_type: 'text', parts }, ...more },
});

describe('ChatGPT export', () => {
  const mapping = {
    root: node(null),
    hidden: node('root', 'system', ['secret'], { metadata: { is_visually_hidden_from_conversation: true } }),
    q: node('hidden', 'user', ['question']),
    a1: node('q', 'assistant', ['first']),
    a2: node('q', 'assistant', ['second']),
    q2: node('a1', 'user', [
      { content_type: 'image_asset_pointer', asset_pointer: 'file-service://f1' },
      'what is this?',
    ]),
  };

  it('keeps branches, leaves hidden nodes out, and takes the current node for the cursor', () => {
    const [conversation] = parse([{ title: 'T', update_time: 1_700_000_100, mapping, current_node: 'a1' }]);
    assert.deepEqual(
      [conversation?.title, conversation?.currentRef, conversation?.updatedAt],
      ['T', 'a1', '2023-11-14T22:15:00.000Z'],
    );
    assert.deepEqual(shape(conversation), [
      ['q', null, 'user', 'question'],
      ['a1', 'q', 'assistant', 'first'],
      ['a2', 'q', 'assistant', 'second'],
      [
        'q2',
        'a1',
        'user',
        [
          { type: 'image', source: { type: 'url', url: 'file-service://f1' } },
          { type: 'text', text: 'what is this?' },
        ],
      ],
    ]);
  });

  it('refuses an unknown role with its place', () => {
    const bad = { ...mapping, q: node('hidden', 'robot', ['x']) };
    assert.throws(() => parse([{ title: 'T', mapping: bad, current_node: 'a1' }]), {
      code: 'invalid_import',
      message: /^talk\.json: \[0\]\.mapping\.q\.message\.author\.role: "robot"/,
    });
  });

  it('refuses a cycle', () => {
    const loop = { a: node('b', 'user', ['x']), b: node('a', 'user', ['y']) };
    assert.throws(() => parse({ title: 'T', mapping: loop }), /its own ancestor/);
  });
});

describe('Claude export', () => {
  it('reads senders, blocks and attachments, linear without parents', () => {
    const [conversation] = parse([
      {
        name: 'N',
        updated_at: '2025-01-01T00:00:10Z',
        chat_messages: [
          {
            uuid: '1',
            sender: 'human',
            text: 'old style',
            attachments: [{ file_name: 'a.txt', extracted_content: 'inside' }],
          },
          {
            uuid: '2',
            sender: 'assistant',
            content: [
              { type: 'thinking', thinking: 'hm' },
              { type: 'text', text: 'hi' },
              { type: 'tool_use', name: 'find', input: { q: 1 } },
              { type: 'tool_result', content: [{ type: 'text', text: 'found' }] },
            ],
          },
        ],
      },
    ]);
    assert.deepEqual(shape(conversation), [
      [
        '1',
        null,
        'user',
        [
          { type: 'text', text: 'old style' },
          { type: 'text', text: 'a.txt:\ninside' },
        ],
      ],
      [
        '2',
        '1',
        'assistant',
        [
          { type: 'thinking', thinking: 'hm' },
          { type: 'text', text: 'hi' },
          { type: 'tool_use', id: '2-1', name: 'find', input: { q: 1 } },
          { type: 'tool_result', tool_use_id: '2-1', content: [{ type: 'text', text: 'found' }] },
        ],
      ],
    ]);
    assert.equal(conversation?.currentRef, '2');
  });

  it('reads the tree when parents are given', () => {
    const said = (uuid: string, parent: string) => ({
      uuid,
      sender: 'human',
      text: uuid,
      parent_message_uuid: parent,
    });
    const [conversation] = parse([
      {
        name: 'N',
        current_leaf_message_uuid: 'b',
        chat_messages: [said('a', '0000'), said('b', 'a'), said('c', 'a')],
      },
    ]);
    assert.deepEqual(
      conversation?.messages.map(({ ref, parentRef }) => [ref, parentRef]),
      [
        ['a', null],
        ['b', 'a'],
        ['c', 'a'],
      ],
    );
    assert.equal(conversation?.currentRef, 'b');
  });
});

describe('parents of a Claude export', () => {
  const said = (uuid: string, parent: string) => ({
    uuid,
    sender: 'human',
    text: uuid,
    parent_message_uuid: parent,
  });
  const root = '00000000-0000-4000-8000-000000000000';

  it('edited first messages are roots beside each other', () => {
    const [conversation] = parse({ chat_messages: [said('a', root), said('b', root), said('c', 'b')] });
    assert.deepEqual(
      conversation?.messages.map(({ parentRef }) => parentRef),
      [null, null, 'b'],
    );
  });

  it('a parent that is missing is told with its place', () => {
    assert.throws(
      () => parse({ chat_messages: [said('a', root), said('b', 'gone')] }),
      /^ImportError: talk\.json: chat_messages\[1\]\.parent_message_uuid: it answers to "gone"/,
    );
  });
});

describe('Open WebUI export', () => {
  it('reads the history tree, wrapped or not', () => {
    const history = {
      currentId: 'b',
      messages: {
        a: { id: 'a', parentId: null, role: 'user', content: 'q', timestamp: 1_700_000_000 },
        b: { id: 'b', parentId: 'a', role: 'assistant', content: 'x' },
        c: { id: 'c', parentId: 'a', role: 'assistant', content: 'y' },
      },
    };
    for (const value of [{ title: 'W', history }, [{ title: 'W', chat: { history } }]]) {
      const [conversation] = parse(value);
      assert.deepEqual(
        [conversation?.title, conversation?.currentRef, conversation?.messages.length],
        ['W', 'b', 3],
      );
    }
  });
});

describe('plain messages', () => {
  const lines = [
    { role: 'system', content: 'Be brief.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'look' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'QUJDRA==' } },
      ],
    },
    { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'n', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'r', is_error: true }] },
  ];

  it('reads a list, an object with messages, and one message a line', () => {
    const forms = [
      JSON.stringify(lines),
      JSON.stringify({ title: 'X', messages: lines }),
      lines.map((line) => JSON.stringify(line)).join('\n'),
    ];
    const [list, object, jsonl] = forms.map((text) => shape(parse(text)[0]));
    assert.deepEqual(list, object);
    assert.deepEqual(list, jsonl);
    assert.deepEqual(list?.[1]?.[3], [
      { type: 'text', text: 'look' },
      { type: 'image', source: { type: 'omitted', media_type: 'image/png', bytes: 4 } },
    ]);
  });

  it('reads calls and answers of the chat completions API', () => {
    const [conversation] = parse([
      { role: 'user', content: 'q' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', function: { name: 'f', arguments: '{"x":1}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'out' },
    ]);
    assert.deepEqual(shape(conversation)?.slice(1), [
      ['2', '1', 'assistant', [{ type: 'tool_use', id: 'c1', name: 'f', input: { x: 1 } }]],
      ['3', '2', 'tool', [{ type: 'tool_result', tool_use_id: 'c1', content: 'out' }]],
    ]);
  });
});

describe('files that are no conversation', () => {
  const good = JSON.stringify({ role: 'user', content: 'x' });
  for (const [name, text, message] of [
    ['an empty file', ' \n', /^talk\.json: the file is empty$/],
    ['an empty list', '[]', /the list is empty/],
    [
      'truncated JSON',
      '{"messages": [{"role": "user", "cont',
      /^talk\.json: line 1, column \d+: the JSON ends too early/,
    ],
    ['no JSON', 'hello there', /^talk\.json: line 1, column 1: this is not JSON$/],
    [
      'a wrong word inside',
      '{"messages": [\n{"role": user}\n]}',
      /^talk\.json: line 2, column 10: this is not JSON$/,
    ],
    ['a truncated line', `${good}\n{"role": "us`, /^talk\.json: line 2: this line is not JSON/],
    ['a wrong line after empty ones', `${good}\n\n\n{"role": "usr"}`, /^talk\.json: line 4\.role: "usr"/],
    [
      'an unknown parent',
      '[{"role": "user", "content": "x", "parent_id": "b"}]',
      /^talk\.json: Message "1" answers to "b", which is not in/,
    ],
    [
      'two messages of one id',
      '[{"role": "user", "content": "x", "id": 1}, {"role": "user", "content": "y", "id": 1}]',
      /^talk\.json: Two messages of the import are called "1"/,
    ],
    [
      'an id that no API takes',
      JSON.stringify([{ role: 'user', content: 'x', id: 'i'.repeat(129) }]),
      /^talk\.json: the id "i+" is not 1 to 128 characters long/,
    ],
    ['other JSON', '{"name": "package"}', /this is no conversation; known are/],
    [
      'an unknown role',
      `${good}\n{"role": "robot", "content": "x"}`,
      /^talk\.json: line 2\.role: "robot" is no role/,
    ],
    [
      'a message without a role',
      '{"messages": [{"content": "x"}]}',
      /^talk\.json: messages\[0\]\.role: a message has no role/,
    ],
    ['no messages', '{"messages": []}', /the conversation has no messages/],
    [
      'content of another kind',
      '[{"role": "user", "content": 5}]',
      /^talk\.json: \[0\]\.content: the content is neither/,
    ],
    [
      'a broken block',
      '[{"role": "user", "content": [{"type": "tool_use", "name": "x"}]}]',
      /^talk\.json: \[0\]\.content\[0\]\.id/,
    ],
  ] as const) {
    it(name, () => {
      assert.throws(
        () => parse(text),
        (error) =>
          (error instanceof ImportError && message.test(error.message)) || assert.fail(String(error)),
      );
    });
  }
});
