/**
 * Tokens per UTF-16 unit by script. ASCII costs a quarter, exactly as chars/4 does; the others follow what current
 * tokenizers spend (o200k: about 0.8 a Han character, 0.74 a kana, up to 0.96 a Hangul syllable), rounded up because
 * a compaction that comes too late is worse than one that comes early.
 */
const ASCII = 0.25;
const RANGES: readonly (readonly [from: number, to: number, weight: number])[] = [
  [0x0080, 0x024f, 0.4], // Latin with marks
  [0x0250, 0x036f, 0.75], // phonetic letters, combining marks
  [0x0370, 0x052f, 0.45], // Greek, Cyrillic
  [0x0530, 0x07ff, 0.55], // Armenian, Hebrew, Arabic, Syriac
  [0x0800, 0x109f, 0.7], // Indic, Thai, Lao, Tibetan, Burmese
  [0x10a0, 0x10ff, 0.6], // Georgian
  [0x1100, 0x11ff, 0.9], // Hangul jamo
  [0x1200, 0x1fff, 0.75],
  [0x2000, 0x2bff, 0.6], // punctuation, arrows, symbols
  [0x2c00, 0x2dff, 0.75],
  [0x2e80, 0x303f, 0.9], // CJK radicals and punctuation
  [0x3040, 0x30ff, 0.85], // kana
  [0x3100, 0x33ff, 1],
  [0x3400, 0x9fff, 1], // Han
  [0xa000, 0xabff, 0.9],
  [0xac00, 0xd7ff, 1], // Hangul syllables
  [0xd800, 0xdfff, 1.25], // half of an emoji or of a rare character
  [0xe000, 0xffff, 1],
];

/** One look-up per UTF-16 unit: a table of the whole plane, in hundredths of a token so that sums stay exact. */
const WEIGHTS = new Uint8Array(0x10000).fill(ASCII * 100);
for (const [from, to, weight] of RANGES) WEIGHTS.fill(weight * 100, from, to + 1);

/** Estimated tokens of a text by script; equal to chars/4 on ASCII. */
export function weightedTokens(text: string): number {
  let hundredths = 0;
  for (let i = 0; i < text.length; i += 1) hundredths += WEIGHTS[text.charCodeAt(i)] ?? 100;
  return Math.ceil(hundredths / 100);
}
