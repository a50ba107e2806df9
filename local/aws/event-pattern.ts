import { UnsupportedTemplateError } from './errors.ts';

/** A compiled EventBridge pattern: whether an event matches. */
export type EventPattern = (event: unknown) => boolean;

type Test = (values: readonly unknown[]) => boolean;

/**
 * Compiles an event pattern: exact values, `prefix`, `suffix`, `equals-ignore-case`, `anything-but`, `exists`, `numeric`
 * and nested objects. Throws `UnsupportedTemplateError` for any other operator.
 */
export function compilePattern(where: string, pattern: unknown): EventPattern {
  if (!isObject(pattern) || Object.keys(pattern).length === 0)
    throw new UnsupportedTemplateError(where, 'an event pattern is an object with at least one field.');
  const fields = Object.entries(pattern).map(
    ([name, wanted]) => [name, compileField(where, name, wanted)] as const,
  );
  return (event) => fields.every(([name, matches]) => matches(isObject(event) ? event[name] : undefined));
}

function compileField(where: string, name: string, wanted: unknown): EventPattern {
  if (name === '$or') throw unknownOperator(where, name);
  if (isObject(wanted)) return compilePattern(where, wanted);
  if (!Array.isArray(wanted) || wanted.length === 0)
    throw new UnsupportedTemplateError(where, `the event pattern's field ${name} is no list of values.`);
  const tests = wanted.map((item) => compileTest(where, item));
  // An array in an event matches when one of its elements does
  return (value) => {
    const values = value === undefined ? [] : Array.isArray(value) ? value : [value];
    return tests.some((matches) => matches(values));
  };
}

function compileTest(where: string, wanted: unknown): Test {
  if (!isObject(wanted)) return any((value) => value === wanted);
  const [operator = '', argument] = Object.entries(wanted)[0] ?? [];
  switch (operator) {
    case 'prefix':
      return any((value) => typeof value === 'string' && value.startsWith(textOf(where, operator, argument)));
    case 'suffix':
      return any((value) => typeof value === 'string' && value.endsWith(textOf(where, operator, argument)));
    case 'equals-ignore-case': {
      const folded = textOf(where, operator, argument).toLowerCase();
      return any((value) => typeof value === 'string' && value.toLowerCase() === folded);
    }
    case 'exists':
      return (values) => values.length > 0 === argument;
    case 'numeric':
      return any(compileNumeric(where, argument));
    case 'anything-but': {
      const excluded = isObject(argument)
        ? [compileTest(where, argument)]
        : [argument].flat().map((item) => compileTest(where, item));
      return (values) => values.some((value) => !excluded.some((matches) => matches([value])));
    }
    default:
      throw unknownOperator(where, operator);
  }
}

const COMPARISONS: Readonly<Record<string, (value: number, bound: number) => boolean>> = {
  '=': (value, bound) => value === bound,
  '<': (value, bound) => value < bound,
  '<=': (value, bound) => value <= bound,
  '>': (value, bound) => value > bound,
  '>=': (value, bound) => value >= bound,
};

function compileNumeric(where: string, argument: unknown): (value: unknown) => boolean {
  const parts = Array.isArray(argument) ? argument : [];
  const checks: ((value: number) => boolean)[] = [];
  for (let position = 0; position < parts.length; position += 2) {
    const comparison = COMPARISONS[String(parts[position])];
    const bound = parts[position + 1];
    if (!comparison || typeof bound !== 'number')
      throw unknownOperator(where, `numeric ${JSON.stringify(argument)}`);
    checks.push((value) => comparison(value, bound));
  }
  if (checks.length === 0) throw unknownOperator(where, `numeric ${JSON.stringify(argument)}`);
  return (value) => typeof value === 'number' && checks.every((check) => check(value));
}

function any(matches: (value: unknown) => boolean): Test {
  return (values) => values.some(matches);
}

function textOf(where: string, operator: string, argument: unknown): string {
  if (typeof argument === 'string') return argument;
  throw unknownOperator(where, `${operator} with ${JSON.stringify(argument)}`);
}

function unknownOperator(where: string, operator: string): UnsupportedTemplateError {
  return new UnsupportedTemplateError(
    where,
    `the embedded AWS does not know "${operator}" in an event pattern.`,
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
