/** Condition and update expressions of DynamoDB, as far as the store writes them; anything else throws. */
export type Item = Record<string, unknown>;
export type Values = Readonly<Record<string, unknown>>;

const TOKENS = /\s*(<=|>=|<>|[=<>(),+]|[:\w][\w.]*)/gy;

/** The store writes a few dozen expressions, and evaluates them for many thousand items. */
const known = new Map<string, readonly string[]>();

function tokensOf(expression: string): string[] {
  const tokens = known.get(expression) ?? tokenized(expression);
  known.set(expression, tokens);
  return [...tokens];
}

function tokenized(expression: string): string[] {
  const matches = [...expression.matchAll(TOKENS)];
  const length = matches.reduce((sum, [text]) => sum + text.length, 0);
  if (length !== expression.trimEnd().length) throw new Error(`cannot read: ${expression}`);
  return matches.map(([, token = '']) => token);
}

const read = (item: Item | undefined, path: string): unknown =>
  path.split('.').reduce<unknown>((inner, name) => (inner as Item | undefined)?.[name], item);

class Parser {
  readonly #tokens: string[];
  readonly #item: Item | undefined;
  readonly #values: Values;

  constructor(expression: string, item: Item | undefined, values: Values) {
    this.#tokens = tokensOf(expression);
    this.#item = item;
    this.#values = values;
  }

  peek(): string | undefined {
    return this.#tokens[0];
  }
  take(expected?: string): string {
    const token = this.#tokens.shift();
    if (token === undefined || (expected !== undefined && token !== expected)) {
      throw new Error(`expected ${expected ?? 'more'}, found ${token}`);
    }
    return token;
  }

  operand(): unknown {
    const name = this.take();
    if (name === 'if_not_exists') {
      this.take('(');
      const path = this.take();
      this.take(',');
      const other = this.operand();
      this.take(')');
      return read(this.#item, path) ?? other;
    }
    if (!name.startsWith(':')) return read(this.#item, name);
    if (!(name in this.#values)) throw new Error(`no value ${name}`);
    return this.#values[name];
  }

  sum(): unknown {
    const left = this.operand();
    if (this.peek() !== '+') return left;
    this.take('+');
    return Number(left) + Number(this.operand());
  }

  or(): boolean {
    let result = this.and();
    while (this.peek() === 'OR') {
      this.take();
      result = this.and() || result;
    }
    return result;
  }

  and(): boolean {
    let result = this.test();
    while (this.peek() === 'AND') {
      this.take();
      result = this.test() && result;
    }
    return result;
  }

  test(): boolean {
    const start = this.peek();
    if (start === '(') {
      this.take();
      const result = this.or();
      this.take(')');
      return result;
    }
    if (start === 'attribute_exists' || start === 'attribute_not_exists') {
      this.take();
      this.take('(');
      const exists = read(this.#item, this.take()) !== undefined;
      this.take(')');
      return exists === (start === 'attribute_exists');
    }
    const left = this.operand();
    const operator = this.take();
    if (operator === 'BETWEEN') {
      const from = this.operand();
      this.take('AND');
      const to = this.operand();
      return compare(left, '>=', from) && compare(left, '<=', to);
    }
    return compare(left, operator, this.operand());
  }
}

/** UTF-8 order, as the engine sorts; values of different types are never equal and have no order. */
export function order(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)));
}

function compare(a: unknown, operator: string, b: unknown): boolean {
  if (a === undefined || b === undefined || typeof a !== typeof b || (a === null) !== (b === null))
    return false;
  if (operator === '=') return a === b;
  const sign = order(a, b);
  if (operator === '<') return sign < 0;
  if (operator === '<=') return sign <= 0;
  if (operator === '>') return sign > 0;
  if (operator === '>=') return sign >= 0;
  throw new Error(`unknown operator ${operator}`);
}

export function holds(expression: string | undefined, item: Item | undefined, values: Values = {}): boolean {
  if (expression === undefined) return true;
  const parser = new Parser(expression, item, values);
  const result = parser.or();
  if (parser.peek() !== undefined) throw new Error(`cannot read the end of: ${expression}`);
  return result;
}

const SECTIONS = new Set(['SET', 'REMOVE', 'ADD']);

/** The item after an update; every right-hand side sees the item as it was. */
export function updated(expression: string, item: Item | undefined, key: Item, values: Values = {}): Item {
  const parser = new Parser(expression, item, values);
  const result: Item = { ...item, ...key };
  let section = '';
  while (parser.peek() !== undefined) {
    if (SECTIONS.has(parser.peek() ?? '')) section = parser.take();
    else if (parser.peek() === ',') parser.take();
    const path = parser.take();
    if (section === 'REMOVE') delete result[path];
    else if (section === 'ADD') result[path] = Number(read(item, path) ?? 0) + Number(parser.operand());
    else {
      parser.take('=');
      result[path] = parser.sum();
    }
  }
  return result;
}
