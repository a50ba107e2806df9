import { ImportError } from './types.ts';

/** What a file says, and where each of its entries stands in it. */
export type Parsed = { readonly value: unknown; readonly placeOf: (index: number) => string };

const errorOf = (text: string): unknown => {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return error;
  }
};

const isObjectText = (text: string): boolean =>
  text.trimStart().startsWith('{') && errorOf(text) === undefined;

/** The text is right as far as it goes, and only its end is missing. */
function isCutOff(text: string): boolean {
  const error = errorOf(text);
  if (error === undefined || /Unexpected end|Unterminated/.test(String(error))) return true;
  const position = /position (\d+)/.exec(String(error))?.[1];
  return position !== undefined && Number(position) >= text.length;
}

/** How far the text is JSON. The parser itself does not always tell. */
function wrongFrom(text: string): number {
  let right = 0;
  let wrong = text.length;
  while (wrong - right > 1) {
    const middle = Math.floor((right + wrong) / 2);
    if (isCutOff(text.slice(0, middle))) right = middle;
    else wrong = middle;
  }
  return right;
}

function placeIn(text: string, position: number): string {
  const before = text.slice(0, position);
  const line = before.split('\n').length;
  return `line ${line}, column ${before.length - before.lastIndexOf('\n')}`;
}

/** One JSON document, or one a line. Throws `ImportError` with line and column. */
export function parseJson(text: string, file: string): Parsed {
  if (errorOf(text) === undefined) return { value: JSON.parse(text), placeOf: (index) => `[${index}]` };
  const lines = text
    .split('\n')
    .map((line, index) => ({ line, number: index + 1 }))
    .filter(({ line }) => line.trim() !== '');
  if (lines.length > 1 && isObjectText(lines[0]?.line ?? '')) {
    const value = lines.map(({ line, number }) => parseLine(line, number, file));
    return { value, placeOf: (index) => `line ${lines[index]?.number}` };
  }
  throw isCutOff(text)
    ? new ImportError(file, placeIn(text, text.length), 'the JSON ends too early; is the file cut off?')
    : new ImportError(file, placeIn(text, wrongFrom(text)), 'this is not JSON');
}

function parseLine(line: string, number: number, file: string): unknown {
  if (errorOf(line) === undefined) return JSON.parse(line);
  throw new ImportError(file, `line ${number}`, 'this line is not JSON; is the file cut off?');
}
