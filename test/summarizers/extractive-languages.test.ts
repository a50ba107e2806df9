import assert from 'node:assert/strict';
import { test } from 'node:test';
import { estimateTokens } from '../../lib/compaction/estimator/index.ts';
import { createExtractiveSummarizer } from '../../lib/summarizers/extractive/index.ts';
import { type Line, pathOf } from '../support/conversation.ts';

const summarizer = createExtractiveSummarizer();

const talk = (texts: readonly string[]): Line[] =>
  texts.map((text, index) => [index % 2 === 0 ? 'user' : 'assistant', text]);

async function condensed(texts: readonly string[], share = 0.6): Promise<string> {
  const budget = Math.ceil(texts.reduce((sum, text) => sum + estimateTokens(text), 0) * share);
  const { text, outputTokens } = await summarizer.summarize({
    messages: pathOf(talk(texts)),
    maxTokens: budget,
  });
  assert.ok(outputTokens <= budget);
  return text;
}

function holds(text: string, facts: readonly string[]): void {
  for (const fact of facts) assert.ok(text.includes(fact), `${fact} is missing:\n${text}`);
}

const CHINESE = [
  '你好！我想把我们的订单系统从 MySQL 迁移到 PostgreSQL 16，数据量大约 320 GB。',
  '好的，没问题。请问迁移期间可以停机吗？停机窗口有多长？',
  '最多只能停机 30 分钟，而且必须在周日凌晨 2 点到 4 点之间。另外，不能修改 orders 表的主键。',
  '明白了。建议先做全量导入。切换前检查 /etc/postgresql/16/main/postgresql.conf 里的 max_wal_size。',
  '好的，谢谢！负责人是王丽，她的邮箱是 wang.li@example.cn。',
  '收到。下一步：周五之前完成演练，回滚方案还没有确定。',
];

test('Chinese: figures, names and constraints in six tenths of the space, without a word of another language', async () => {
  const text = await condensed(CHINESE);
  holds(text, [
    'PostgreSQL 16',
    '30 分钟',
    'postgresql.conf',
    'wang.li@example.cn',
    '不能修改 orders 表的主键',
  ]);
  const input = CHINESE.join(' ');
  for (const word of text.match(/[A-Za-z]+/gu) ?? [])
    assert.ok(input.includes(word) || word === 'user' || word === 'assistant', word);
});

test('Japanese: the booking with its terms', async () => {
  const text = await condensed([
    'こんにちは。来月の京都出張のホテルを予約したいです。',
    '承知しました。日程とご予算を教えてください。',
    '4月12日から15日まで、1泊15,000円以内でお願いします。喫煙の部屋は絶対に嫌です。',
    '京都駅から徒歩5分の「ホテル桜」はいかがでしょうか。1泊13,800円、禁煙です。',
    'いいですね。では、それで予約してください。',
    '予約しました。予約番号は KY-20931 です。キャンセルは4月10日まで無料です。',
    'ありがとうございます。あと、上司の鈴木さんにも予約番号を送ってください。',
    'かしこまりました。suzuki@example.jp に送信しました。',
  ]);
  holds(text, ['4月12日から15日まで', '15,000円', 'KY-20931', 'suzuki@example.jp']);
});

test('Arabic and Hebrew: order of lines and figures stay', async () => {
  const text = await condensed(
    [
      'مرحبا، أريد حجز رحلة إلى القاهرة يوم 12/05/2026 مع العائلة كلها.',
      'תודה רבה, הזמנתי טיסה AB-1234 לקהיר עבור כל המשפחה שלך.',
    ],
    0.9,
  );
  holds(text, ['12/05/2026', 'AB-1234']);
  assert.ok(text.indexOf('12/05/2026') < text.indexOf('AB-1234'));
});

test('Russian, German and Hindi negations stay with what they negate', async () => {
  for (const [sentence, verb, negated] of [
    ['Пожалуйста, мы никогда не должны удалять архив Байкал.', /удалять/u, /никогда не должны удалять/u],
    ['Wir dürfen das Archiv Brocken bitte nicht löschen.', /löschen/u, /nicht löschen/u],
    ['कृपया गंगोत्री संग्रह कभी मत मिटाना दोस्तों।', /मिटाना/u, /मत मिटाना/u],
  ] as const) {
    for (let maxTokens = 5; maxTokens < 40; maxTokens += 1) {
      const { text } = await summarizer.summarize({ messages: pathOf([['user', sentence]]), maxTokens });
      if (text.startsWith('user: ') && verb.test(text)) assert.match(text, negated);
    }
  }
});

test('Thai without spaces is parted into what fits', async () => {
  const sentence = 'ฉันต้องการจองโรงแรมที่เชียงใหม่วันที่ 15 มีนาคม ราคาไม่เกิน 2000 บาทต่อคืน และต้องมีที่จอดรถสำหรับลูกค้าทุกคน';
  const text = await condensed([sentence, 'ได้ค่ะ จะจองโรงแรมให้นะคะ ขอบคุณค่ะ']);
  assert.match(text, /15|2000/u);
});
