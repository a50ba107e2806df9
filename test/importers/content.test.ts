import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseConversations } from '../../local/importers/index.ts';

const PICTURE = Buffer.alloc(3_001, 7).toString('base64');
const OMITTED = { type: 'image', source: { type: 'omitted', media_type: 'image/png', bytes: 3_001 } };

const contents = (value: unknown) =>
  parseConversations(JSON.stringify(value), 'talk.json')[0]?.messages.map(({ content }) => content);

const ofBlocks = (...content: unknown[]) => contents([{ role: 'user', content }])?.[0];

describe('bytes inside a conversation', () => {
  it('a picture is kept as media type and size, whoever wrote it down', () => {
    for (const block of [
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PICTURE } },
      { type: 'image', source: { type: 'url', url: `data:image/png;base64,${PICTURE}` } },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${PICTURE}` } },
      { type: 'input_image', image_url: `data:image/png;base64,${PICTURE}` },
    ])
      assert.deepEqual(ofBlocks(block), [OMITTED]);
  });

  it('a picture with an address keeps it', () => {
    assert.deepEqual(ofBlocks({ type: 'image_url', image_url: { url: 'https://x.example/1.png' } }), [
      { type: 'image', source: { type: 'url', url: 'https://x.example/1.png' } },
    ]);
  });

  it('pictures that Open WebUI sent along stand before the text', () => {
    const files = [
      { type: 'image', url: `data:image/png;base64,${PICTURE}` },
      { type: 'file', name: 'notes.txt' },
    ];
    const history = { currentId: 'a', messages: { a: { role: 'user', content: 'look', files } } };
    assert.deepEqual(contents({ history })?.[0], [OMITTED, { type: 'text', text: 'look' }]);
  });

  it('a text that carries bytes says what they were; the words around them stay', () => {
    const text = `before ![x](data:image/png;base64,${PICTURE}) after data:text/plain;base64,QUJD`;
    const light = 'before ![x]([image/png, 3001 bytes]) after data:text/plain;base64,QUJD';
    assert.equal(contents([{ role: 'user', content: text }])?.[0], light);
    assert.deepEqual(
      ofBlocks(
        { type: 'text', text },
        { type: 'tool_result', tool_use_id: 't', content: text },
        { type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text }] },
      ),
      [
        { type: 'text', text: light },
        { type: 'tool_result', tool_use_id: 't', content: light },
        { type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: light }] },
      ],
    );
  });
});

describe('kinds of blocks', () => {
  it('whatever has a text keeps it; what holds nothing for a reader is left out', () => {
    assert.deepEqual(
      ofBlocks(
        { type: 'output_text', text: 'said' },
        { type: 'redacted_thinking', data: 'xyz' },
        { type: 'text', text: '' },
      ),
      'said',
    );
  });

  it('calls of server tools and what they found', () => {
    assert.deepEqual(
      ofBlocks(
        { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'q' } },
        {
          type: 'web_search_tool_result',
          tool_use_id: 's',
          content: [
            { type: 'web_search_result', title: 'T', url: 'https://x.example', encrypted_content: '…' },
          ],
        },
        {
          type: 'web_search_tool_result',
          tool_use_id: 's',
          content: { type: 'web_search_tool_result_error', error_code: 'unavailable' },
        },
      ),
      [
        { type: 'tool_use', id: 's', name: 'web_search', input: { query: 'q' } },
        { type: 'tool_result', tool_use_id: 's', content: [{ type: 'text', text: 'T\nhttps://x.example' }] },
        {
          type: 'tool_result',
          tool_use_id: 's',
          content: '{"type":"web_search_tool_result_error","error_code":"unavailable"}',
        },
      ],
    );
  });

  it('a document by its text, or by its name', () => {
    assert.equal(
      ofBlocks({ type: 'document', title: 'A', source: { type: 'text', data: 'inside' } }),
      'A:\ninside',
    );
    assert.equal(
      ofBlocks({ type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'QUJD' } }),
      '[document, application/pdf]',
    );
  });

  it('several results in one turn stay one message', () => {
    const results = ['a', 'b'].map((id) => ({ type: 'tool_result', tool_use_id: id, content: id }));
    assert.deepEqual(ofBlocks(...results), results);
  });
});
