import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compilePattern } from '../../local/aws/event-pattern.ts';

const event = {
  source: 'chat.app',
  'detail-type': 'response.generation',
  resources: ['a', 'b'],
  detail: { session_id: 's1', prompt_tokens: 1200, final: true, model: null, usage: { total: 3 } },
};

const CASES: readonly [pattern: object, matches: boolean][] = [
  [{ source: ['chat.app'] }, true],
  [{ source: ['other'] }, false],
  [{ source: ['other', 'chat.app'], 'detail-type': ['response.generation'] }, true],
  [{ source: ['chat.app'], 'detail-type': ['compaction.request'] }, false],
  [{ resources: ['b'] }, true],
  [{ detail: { final: [true], model: [null] } }, true],
  [{ detail: { final: ['true'] } }, false],
  [{ detail: { usage: { total: [3] } } }, true],
  [{ source: [{ prefix: 'chat.' }] }, true],
  [{ source: [{ prefix: 'app' }] }, false],
  [{ source: [{ suffix: '.app' }] }, true],
  [{ source: [{ 'equals-ignore-case': 'CHAT.APP' }] }, true],
  [{ source: [{ 'anything-but': 'chat.app' }] }, false],
  [{ source: [{ 'anything-but': ['x', 'y'] }] }, true],
  [{ source: [{ 'anything-but': { prefix: 'chat' } }] }, false],
  [{ missing: [{ 'anything-but': 'x' }] }, false],
  [{ detail: { session_id: [{ exists: true }], nothing: [{ exists: false }] } }, true],
  [{ detail: { session_id: [{ exists: false }] } }, false],
  [{ detail: { prompt_tokens: [{ numeric: ['>', 1000, '<=', 1200] }] } }, true],
  [{ detail: { prompt_tokens: [{ numeric: ['>', 1200] }] } }, false],
  [{ detail: { session_id: [{ numeric: ['=', 0] }] } }, false],
];

for (const [pattern, matches] of CASES)
  test(`${JSON.stringify(pattern)} ${matches ? 'matches' : 'does not match'}`, () => {
    assert.equal(compilePattern('Rule', pattern)(event), matches);
  });

for (const pattern of [
  { source: [{ wildcard: '*' }] },
  { $or: [] },
  { detail: { n: [{ numeric: ['~', 1] }] } },
  { source: 'x' },
  {},
])
  test(`${JSON.stringify(pattern)} is refused`, () => {
    assert.throws(() => compilePattern('Rule', pattern), {
      code: 'template_unsupported',
      message: /^Rule: /,
    });
  });
