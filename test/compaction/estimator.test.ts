import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { chars4, measureContent, runes, weighted } from '../../lib/compaction/estimator/index.ts';

describe('estimators', () => {
  it('A11: chars/4 rounds up', () => {
    assert.deepEqual(['', 'a', 'abcd', 'abcde'].map(chars4.estimateTokens), [0, 1, 1, 2]);
  });

  it('A12: a path adds 4 a message and 4 for a system prompt', () => {
    const path = [{ content: 'abcd' }, { content: 'abcdefgh' }];
    assert.equal(chars4.estimatePath(path, 0), 1 + 4 + 2 + 4);
    assert.equal(chars4.estimatePath(path, 10), 1 + 4 + 2 + 4 + 3 + 4);
  });

  it('D: code points over 2.5, rounded down', () => {
    assert.equal(runes().estimateTokens('一二三四'), 1);
    assert.equal(runes(5).estimateTokens('x'.repeat(20)), 4);
    assert.equal(runes().estimateTokens('😀😀😀😀😀'), 2);
  });

  it('weighted equals chars/4 on ASCII', () => {
    const ascii = fc.string({ unit: 'binary-ascii', maxLength: 500 });
    fc.assert(fc.property(ascii, (text) => weighted.estimateTokens(text) === chars4.estimateTokens(text)));
  });

  it('weighted does not undercount what chars/4 undercounts', () => {
    const atLeast = {
      今天天气很好我们去公园散步吧: 0.8,
      これはひらがなです: 0.74,
      안녕하세요반갑습니다: 0.9,
      '😀😃😄': 2,
    };
    for (const [text, tokensPerCharacter] of Object.entries(atLeast)) {
      assert.ok(weighted.estimateTokens(text) >= [...text].length * tokensPerCharacter, text);
    }
  });

  it('counts tool blocks and images', () => {
    const { tokens, chars } = measureContent([
      { type: 'tool_use', id: 't', name: 'search', input: { query: 'x'.repeat(400) } },
      {
        type: 'tool_result',
        tool_use_id: 't',
        content: [
          { type: 'text', text: 'y'.repeat(400) },
          { type: 'image', source: { type: 'url' } },
        ],
      },
    ]);
    assert.ok(chars > 800);
    assert.ok(tokens > 200 + 1_000, `${tokens}`);
  });
});
