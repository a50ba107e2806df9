import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { judge } from '../../lib/compaction/judge.ts';
import { buildPrompt } from '../../lib/compaction/prompt.ts';

const answer = { text: 'notes', model: 'm', inputTokens: 1, outputTokens: 1, stop: 'complete' as const };
const facts = { tokensBefore: 1_000, tokensAfterIfApplied: 900 };
const prompt = buildPrompt({ messages: [{ role: 'user', content: 'x' }], maxTokens: 100 }).user;

describe('the judge', () => {
  for (const [name, given, size, reason] of [
    ['a useful answer', answer, facts, undefined],
    ['an answer below a heading', { ...answer, text: '# 目标\n退款' }, facts, undefined],
    ['blank', { ...answer, text: ' \n' }, facts, 'blank'],
    ['a heading alone', { ...answer, text: '## Summary\n\n---\n' }, facts, 'blank'],
    ['cut off', { ...answer, stop: 'cut_off' as const }, facts, 'cut_off'],
    ['a refusal', { ...answer, stop: 'refusal' as const, text: '' }, facts, 'refusal'],
    ['the prompt again', { ...answer, text: prompt }, facts, 'echo'],
    ['not smaller by a tenth', answer, { tokensBefore: 1_000, tokensAfterIfApplied: 901 }, 'not_smaller'],
    ['larger than before', answer, { tokensBefore: 100, tokensAfterIfApplied: 2_755 }, 'not_smaller'],
  ] as const) {
    it(`${name}: ${reason ?? 'accepted'}`, () => {
      assert.deepEqual(judge(given, size), reason === undefined ? { ok: true } : { ok: false, reason });
    });
  }
});
