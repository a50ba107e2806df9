import { InvalidTemplateError, UnsupportedTemplateError } from '../errors.ts';

/** Answers of the template around a value; each throws a clear error for what is not there. */
export type Scope = {
  /** Resource or parameter that the value belongs to, for messages. */
  readonly where: string;
  ref(name: string): unknown;
  attribute(logicalId: string, attribute: string): unknown;
  condition(name: string): boolean;
  mapped(map: string, first: string, second: string): unknown;
};

/** `AWS::NoValue`: the property that holds it is left out. */
export const NO_VALUE = Symbol('AWS::NoValue');

type Intrinsic = (argument: unknown, scope: Scope) => unknown;

/** Replaces every intrinsic function below `value`; throws at the first that is unknown or malformed. */
export function evaluate(value: unknown, scope: Scope): unknown {
  if (Array.isArray(value))
    return value.map((item) => evaluate(item, scope)).filter((item) => item !== NO_VALUE);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  const [only] = entries;
  if (entries.length === 1 && only && isIntrinsic(only[0])) return call(only[0], only[1], scope);
  const evaluated = entries.map(([key, item]) => [key, evaluate(item, scope)] as const);
  return Object.fromEntries(evaluated.filter(([, item]) => item !== NO_VALUE));
}

/** Evaluates a condition of the template's `Conditions` section or of `Fn::If`. */
export function evaluateCondition(value: unknown, scope: Scope): boolean {
  const [only] = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  if (only?.[0] === 'Condition') return scope.condition(text(only[1], scope, 'Condition'));
  const result = only && only[0] in CONDITIONS ? CONDITIONS[only[0]]?.(only[1], scope) : undefined;
  if (result === undefined)
    throw new UnsupportedTemplateError(scope.where, `${JSON.stringify(value)} is no condition function.`);
  return result;
}

function isIntrinsic(key: string): boolean {
  return key === 'Ref' || key.startsWith('Fn::');
}

function call(name: string, argument: unknown, scope: Scope): unknown {
  const intrinsic = INTRINSICS[name];
  if (!intrinsic)
    throw new UnsupportedTemplateError(
      scope.where,
      `the embedded AWS does not know the intrinsic function ${name}.`,
    );
  return intrinsic(argument, scope);
}

function text(value: unknown, scope: Scope, what: string): string {
  const evaluated = evaluate(value, scope);
  if (typeof evaluated === 'string' || typeof evaluated === 'number') return String(evaluated);
  throw new InvalidTemplateError(scope.where, `${what} needs a text, not ${JSON.stringify(evaluated)}.`);
}

function list(value: unknown, scope: Scope, what: string, length?: number): unknown[] {
  if (Array.isArray(value) && (length === undefined || value.length === length)) return value;
  throw new InvalidTemplateError(scope.where, `${what} needs a list${length ? ` of ${length}` : ''}.`);
}

function evaluatedList(value: unknown, scope: Scope, what: string): unknown[] {
  return list(evaluate(value, scope), scope, what);
}

const INTRINSICS: Readonly<Record<string, Intrinsic>> = {
  Ref: (argument, scope) => scope.ref(text(argument, scope, 'Ref')),
  'Fn::GetAtt': (argument, scope) => {
    const parts = typeof argument === 'string' ? argument.split('.') : list(argument, scope, 'Fn::GetAtt', 2);
    const [logicalId, ...attribute] = parts.map((part) => text(part, scope, 'Fn::GetAtt'));
    return scope.attribute(logicalId ?? '', attribute.join('.'));
  },
  'Fn::Join': (argument, scope) => {
    const [separator, items] = list(argument, scope, 'Fn::Join', 2);
    const parts = evaluatedList(items, scope, 'Fn::Join').map((item) => text(item, scope, 'Fn::Join'));
    return parts.join(text(separator, scope, 'Fn::Join'));
  },
  'Fn::Sub': (argument, scope) => {
    if (typeof argument === 'string') return substitute(argument, {}, scope);
    const [template, values] = list(argument, scope, 'Fn::Sub', 2);
    return substitute(text(template, scope, 'Fn::Sub'), values as Record<string, unknown>, scope);
  },
  'Fn::Select': (argument, scope) => {
    const [index, items] = list(argument, scope, 'Fn::Select', 2);
    const choices = evaluatedList(items, scope, 'Fn::Select');
    const position = Number(text(index, scope, 'Fn::Select'));
    if (!(position in choices))
      throw new InvalidTemplateError(
        scope.where,
        `Fn::Select asks for item ${position} of ${choices.length}.`,
      );
    return choices[position];
  },
  'Fn::Split': (argument, scope) => {
    const [separator, whole] = list(argument, scope, 'Fn::Split', 2);
    return text(whole, scope, 'Fn::Split').split(text(separator, scope, 'Fn::Split'));
  },
  'Fn::If': (argument, scope) => {
    const [condition, whenTrue, whenFalse] = list(argument, scope, 'Fn::If', 3);
    return evaluate(scope.condition(text(condition, scope, 'Fn::If')) ? whenTrue : whenFalse, scope);
  },
  'Fn::FindInMap': (argument, scope) => {
    const keys = list(argument, scope, 'Fn::FindInMap', 3).map((key) => text(key, scope, 'Fn::FindInMap'));
    return scope.mapped(keys[0] ?? '', keys[1] ?? '', keys[2] ?? '');
  },
  'Fn::Base64': (argument, scope) => Buffer.from(text(argument, scope, 'Fn::Base64')).toString('base64'),
  'Fn::ImportValue': (argument, scope) => {
    throw new UnsupportedTemplateError(
      scope.where,
      `it imports ${JSON.stringify(argument)} from another stack, and the embedded AWS runs one stack.`,
    );
  },
};

const CONDITIONS: Readonly<Record<string, (argument: unknown, scope: Scope) => boolean>> = {
  'Fn::Equals': (argument, scope) => {
    const [left, right] = list(argument, scope, 'Fn::Equals', 2).map((side) => evaluate(side, scope));
    return JSON.stringify(left) === JSON.stringify(right);
  },
  'Fn::Not': (argument, scope) => !evaluateCondition(list(argument, scope, 'Fn::Not', 1)[0], scope),
  'Fn::And': (argument, scope) =>
    list(argument, scope, 'Fn::And').every((item) => evaluateCondition(item, scope)),
  'Fn::Or': (argument, scope) =>
    list(argument, scope, 'Fn::Or').some((item) => evaluateCondition(item, scope)),
};

function substitute(template: string, values: Record<string, unknown>, scope: Scope): string {
  return template.replace(/\$\{(!?)([^}]*)\}/g, (_whole, literal: string, name: string) => {
    if (literal) return `\${${name}}`;
    if (Object.hasOwn(values, name)) return text(values[name], scope, 'Fn::Sub');
    const [logicalId, ...attribute] = name.trim().split('.');
    const value = attribute.length
      ? scope.attribute(logicalId ?? '', attribute.join('.'))
      : scope.ref(name.trim());
    return text(value, scope, 'Fn::Sub');
  });
}
