import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { renderMessage, shorten } from '../../lib/compaction/digest.ts';
import type { MessageContent } from '../../lib/treepath/content.ts';
import { call } from '../support/conversation.ts';

const shown = (content: MessageContent): string => renderMessage({ role: 'user', content });

describe('transcript rendering', () => {
  it('shows the role and the text', () => {
    assert.equal(shown('hello'), 'user: hello');
  });

  it('shows a call as one line, shortened', () => {
    assert.equal(
      renderMessage({ role: 'assistant', content: call('a') }),
      'assistant: [call search {"q":"a"}]',
    );
    const input = { query: 'line\nline', body: 'x'.repeat(5_000) };
    const line = shown([{ type: 'tool_use', id: 'a', name: 'write\nfile', input }]);
    assert.match(line, /^user: \[call write file \{"query":"line\\nline".*characters left out.*x"\}\]$/);
    assert.ok(line.length < 420);
    assert.equal(shown([{ type: 'tool_use', id: 'a', name: 'f', input: undefined }]), 'user: [call f ]');
  });

  it('shows a result head and tail, an error as one', () => {
    const content = `start${'x'.repeat(9_000)}finish`;
    const result = { type: 'tool_result' as const, tool_use_id: 'a', content };
    assert.match(shown([result]), /^user: \[result\] startx+\n\[… 7011 characters left out …\]\nx+finish$/);
    assert.match(shown([{ ...result, is_error: true }]), /^user: \[error\] start/);
    assert.equal(shown([{ type: 'tool_result', tool_use_id: 'a' }]), 'user: [result] ');
  });

  it('shows pictures by reference, never their bytes', () => {
    const bytes = 'iVBORw0KGgo'.repeat(100);
    for (const [source, expected] of [
      [{ type: 'url', url: 'https://x.test/a.png' }, '[image https://x.test/a.png]'],
      [{ type: 'file', file_id: 'file_1' }, '[image file_1]'],
      [{ type: 'base64', media_type: 'image/png', data: bytes }, '[image image/png]'],
      [{ type: 'url', url: `data:image/png;base64,${bytes}` }, '[image image/png]'],
      [{ type: 'url', url: `data:;base64,${bytes}` }, '[image]'],
      [{ type: 'other' }, '[image]'],
    ] as const)
      assert.equal(shown([{ type: 'image', source }]), `user: ${expected}`);
    const inResult = shown([
      {
        type: 'tool_result',
        tool_use_id: 'a',
        content: [
          { type: 'text', text: 'a plot' },
          { type: 'image', source: { type: 'file', file_id: 'file_2' } },
        ],
      },
    ]);
    assert.equal(inResult, 'user: [result] a plot\n[image file_2]');
    assert.ok(shown([{ type: 'image', source: { type: 'url', url: 'u'.repeat(9_000) } }]).length < 300);
  });

  it('leaves thinking out', () => {
    assert.equal(
      shown([
        { type: 'thinking', thinking: 'secret' },
        { type: 'text', text: 'said' },
      ]),
      'user: said',
    );
  });
});

describe('shortening', () => {
  it('says how much is left out, between head and tail', () => {
    assert.equal(shorten('abcdefghijklmno', 10), 'abcdef\n[… 5 characters left out …]\nlmno');
    assert.equal(shorten('abcdefghijklmno', 10, ' '), 'abcdef [… 5 characters left out …] lmno');
    assert.equal(shorten('abc', 3), 'abc');
  });

  it('property: head, tail and the number account for every character, none of them halved', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 300 }),
        fc.integer({ min: 1, max: 100 }),
        (text, max) => {
          const short = shorten(text, max);
          if (text.length <= max) {
            assert.equal(short, text);
            return;
          }
          assert.ok(short.isWellFormed());
          const [, head = '', left, tail = ''] =
            /^([\s\S]*)\n\[… (\d+) characters left out …\]\n([\s\S]*)$/.exec(short) ?? [];
          assert.ok(text.startsWith(head) && text.endsWith(tail) && head.length + tail.length <= max);
          assert.equal(head.length + tail.length + Number(left), text.length);
        },
      ),
    );
  });
});
