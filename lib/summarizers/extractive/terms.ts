const words = new Intl.Segmenter(undefined, { granularity: 'word' });
const EXACT = /https?:\/\/\S+|[\w.-]*[/\\][\w./\\-]+|\b\w+[._-]\w[\w.-]*|\b[A-Z]{2,}[\w-]*\b|\b\d[\d.,:%-]*\w*/gu;

/** Endings that English and its neighbours add to a word; enough to bring the forms of one word together. */
function stem(word: string): string {
  if (word.length < 5 || !/^[a-z]+$/.test(word)) return word;
  return word.replace(/(?:ies|ied)$/, 'y').replace(/(?:ing|edly|ed|es|ly|s)$/, '');
}

const isIdeographic = (word: string): boolean => /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(word);

/**
 * The terms of a segment: words in any language, lightly stemmed. A single kana or a single letter says nothing by
 * itself; a single Han character may.
 */
export function termsOf(text: string): Set<string> {
  const terms = new Set<string>();
  for (const { segment, isWordLike } of words.segment(text)) {
    if (isWordLike !== true) continue;
    const term = stem(segment.toLowerCase());
    if (term.length > 1 || (isIdeographic(term) && /\p{Script=Han}/u.test(term)) || /\d/.test(term)) terms.add(term);
  }
  return terms;
}

/** Terms that must survive to the letter: numbers, identifiers, paths, URLs, acronyms. */
export function exactTermsOf(text: string): Set<string> {
  const exact = new Set<string>();
  for (const [match] of text.matchAll(EXACT)) for (const term of termsOf(match)) exact.add(term);
  return exact;
}
