import assert from 'node:assert/strict';
import { test } from 'node:test';
import { estimateTokens } from '../../lib/compaction/estimator/index.ts';
import { SummarizerError } from '../../lib/errors.ts';
import { createExtractiveSummarizer } from '../../lib/summarizers/extractive/index.ts';
import type { SummaryRequest } from '../../lib/summarizers/summarizer.ts';
import { type Line, pathOf } from '../support/conversation.ts';

const summarizer = createExtractiveSummarizer();

async function summaryOf(lines: readonly Line[], maxTokens: number, more: Partial<SummaryRequest> = {}) {
  return (await summarizer.summarize({ messages: pathOf(lines), maxTokens, ...more })).text;
}

const SMALL_TALK = 'That is really nice to hear, thank you so much for telling me about all of this today!';
const padded = (facts: readonly string[]): Line[] =>
  facts.flatMap((fact): Line[] => [
    ['user', fact],
    ['assistant', SMALL_TALK],
  ]);

test('the model is named, has no window and needs no tokens of its own', async () => {
  const answer = await summarizer.summarize({ messages: pathOf([['user', 'Buy 12 eggs.']]), maxTokens: 50 });
  assert.equal(summarizer.model, 'extractive');
  assert.equal(summarizer.promptVersion, 'extractive-1');
  assert.equal(summarizer.window, Number.POSITIVE_INFINITY);
  assert.deepEqual(answer, {
    text: 'user: Buy 12 eggs',
    model: 'extractive',
    inputTokens: estimateTokens('Buy 12 eggs.'),
    outputTokens: estimateTokens('user: Buy 12 eggs'),
    stop: 'complete',
  });
});

test('identifiers, numbers, paths, URLs and addresses outlive small talk', async () => {
  const kept = [
    '/etc/nginx/nginx.conf',
    'https://shop.example/orders?id=77',
    'ORD-20931',
    '4.18.2',
    'MAX_POOL_SIZE',
  ];
  const lines = padded([
    'I changed the limit in /etc/nginx/nginx.conf last night.',
    'The broken page is https://shop.example/orders?id=77 on the site.',
    'My order number is ORD-20931 as you asked.',
    'We are still on express 4.18.2 here.',
    'Then set MAX_POOL_SIZE to 40 and write to ops@shop.example about it.',
  ]);
  const text = await summaryOf(lines, 90);
  for (const fact of [...kept, 'ops@shop.example'])
    assert.ok(text.includes(fact), `${fact} is missing:\n${text}`);
});

test('a negation is never cut off its sentence', async () => {
  const sentence =
    'Please remember that we must not ever delete the quarterly archive bucket named Glacierhold.';
  for (let maxTokens = 6; maxTokens < 40; maxTokens += 1) {
    const text = await summaryOf(padded([sentence, 'We meet in Lisbon on 4 May.']), maxTokens);
    if (/delete/u.test(text)) assert.match(text, /not ever delete/u);
  }
});

test('a question is never turned into a statement', async () => {
  for (let maxTokens = 6; maxTokens < 40; maxTokens += 1) {
    const text = await summaryOf(
      padded(['Did Marguerite really sell the vineyard in Bordeaux last summer?']),
      maxTokens,
    );
    if (/Bordeaux|vineyard/u.test(text)) assert.match(text, /summer\?|…$/u);
  }
});

test('tool calls, results and failures keep their names; pictures leave a mark', async () => {
  const text = await summaryOf(
    [
      ['user', 'Fix the build of @acme/web.'],
      [
        'assistant',
        [{ type: 'tool_use', id: 't1', name: 'bash', input: { command: 'npm run build', cwd: '/srv/app' } }],
      ],
      [
        'user',
        [
          {
            type: 'tool_result',
            tool_use_id: 't1',
            is_error: true,
            content: 'error TS2304: Cannot find name foo',
          },
        ],
      ],
      ['assistant', [{ type: 'tool_use', id: 't2', name: 'read_file', input: { path: 'src/a.ts' } }]],
      [
        'user',
        [
          {
            type: 'tool_result',
            tool_use_id: 't2',
            content: [{ type: 'text', text: 'export const bar = 1;' }],
          },
        ],
      ],
      ['user', [{ type: 'image', source: { type: 'url', url: 'https://x.example/1.png' } }]],
    ],
    200,
  );
  assert.equal(
    text,
    [
      'user: Fix the build of @acme/web',
      'assistant: bash(command=npm run build, cwd=/srv/app)',
      'bash✗: error TS2304: Cannot find name foo',
      'assistant: read_file(path=src/a.ts)',
      'read_file: export const bar = 1',
      'user: [image]',
    ].join('\n'),
  );
});

test('an error outweighs the lines of a log around it', async () => {
  const log = Array.from({ length: 200 }, (_, i) => `12:00:${i} worker step ${i} finished normally`).join(
    '\n',
  );
  const text = await summaryOf(
    [
      ['assistant', [{ type: 'tool_use', id: 't1', name: 'deploy', input: {} }]],
      ['user', [{ type: 'tool_result', tool_use_id: 't1', content: log }]],
      ['assistant', [{ type: 'tool_use', id: 't2', name: 'deploy', input: {} }]],
      [
        'user',
        [
          {
            type: 'tool_result',
            tool_use_id: 't2',
            is_error: true,
            content: 'Quota exceeded for project zephyr',
          },
        ],
      ],
    ],
    40,
  );
  assert.match(text, /deploy✗: Quota exceeded for project zephyr/u);
});

test('code stays line by line', async () => {
  const text = await summaryOf(
    [['assistant', 'Use this:\n```ts\nconst pool = createPool({ max: 40 });\n```\nDone.']],
    60,
  );
  assert.match(text, /const pool = createPool\(\{ max: 40 \}\)/u);
});

test('what the instructions name is kept first', async () => {
  const lines = padded([
    'The garden party needs lanterns and a gazebo.',
    'Our accountant moved the invoices to a ledger.',
    'The sailing course starts with knots and charts.',
  ]);
  const asked = await summaryOf(lines, 15, { instructions: 'Everything about invoices and the ledger' });
  assert.match(asked, /invoices to a ledger/u);
});

test('days part the lines when there are several', async () => {
  const [first, second] = pathOf([
    ['user', 'The keys are with Ottoline.'],
    ['user', 'The lease ends with the harvest.'],
  ]);
  assert.ok(first && second);
  const messages = [
    { ...first, createdAt: '2026-03-01T10:00:00.000Z' },
    { ...second, createdAt: '2026-03-04T10:00:00.000Z' },
  ];
  const { text } = await summarizer.summarize({ messages, maxTokens: 100 });
  assert.equal(
    text,
    '[2026-03-01]\nuser: The keys are with Ottoline\n[2026-03-04]\nuser: The lease ends with the harvest',
  );
});

test('a surrogate without its other half does not leave the summary malformed', async () => {
  const text = await summaryOf([['user', 'broken \ud800 text about Zanzibar \udc00 here']], 50);
  assert.ok(text.isWellFormed());
  assert.match(text, /Zanzibar/u);
});

test('an estimator can be given', async () => {
  const byWord = createExtractiveSummarizer({
    estimate: (text) => text.split(/\s+/u).filter(Boolean).length,
  });
  const { text, outputTokens } = await byWord.summarize({
    messages: pathOf(padded(['Rosalind keeps nine grey herons behind the old mill in Devonshire.'])),
    maxTokens: 6,
  });
  assert.ok(text.split(/\s+/u).length <= 6);
  assert.equal(outputTokens, text.split(/\s+/u).length);
});

test('an aborted signal stops it with a retryable error', async () => {
  await assert.rejects(
    summaryOf([['user', 'hello']], 50, { signal: AbortSignal.abort() }),
    (error) => error instanceof SummarizerError && error.code === 'aborted' && error.retryable,
  );
});

test('a signal aborted on the way is seen between phases', async () => {
  const controller = new AbortController();
  const running = summaryOf(padded(['One fact about Iceland.']), 50, { signal: controller.signal });
  controller.abort();
  await assert.rejects(running, { code: 'aborted' });
});
