import { UnsupportedTemplateError } from '../errors.ts';

export type Route<T> = { readonly key: string; readonly value: T };

export type Match<T> = {
  readonly key: string;
  readonly value: T;
  readonly parameters: Readonly<Record<string, string>>;
};

type Compiled<T> = Route<T> & {
  readonly method: string;
  readonly path: RegExp;
  /** Lower wins: literal segments before parameters, parameters before a greedy one. */
  readonly rank: string;
};

/** The routes of an HTTP API and how a request finds its own. */
export type Router<T> = (method: string, path: string) => Match<T> | undefined;

/**
 * Compiles route keys such as `GET /channels/{id}`, `ANY /{proxy+}` and `$default`. A full match wins over a greedy one
 * and its own method over `ANY`; `$default` is last.
 */
export function createRouter<T>(where: string, routes: readonly Route<T>[]): Router<T> {
  const fallback = routes.find(({ key }) => key === '$default');
  const compiled = routes
    .filter((route) => route !== fallback)
    .map((route) => compile(where, route))
    .sort((left, right) => (left.rank < right.rank ? -1 : 1));
  return (method, path) => {
    for (const route of compiled) {
      const match = route.method === 'ANY' || route.method === method ? route.path.exec(path) : null;
      if (match) return { key: route.key, value: route.value, parameters: { ...match.groups } };
    }
    return fallback && { ...fallback, parameters: {} };
  };
}

function compile<T>(where: string, route: Route<T>): Compiled<T> {
  const [, method = '', path] = /^([A-Z]+) (\/\S*)$/.exec(route.key) ?? [];
  if (path === undefined) throw new UnsupportedTemplateError(where, `${route.key} is no route key.`);
  const segments = path.split('/').slice(1);
  const pattern = segments.map((segment) => segmentPattern(where, segment)).join('/');
  const ranks = segments.map((segment) =>
    segment.endsWith('+}') ? '2' : segment.startsWith('{') ? '1' : '0',
  );
  const greedy = ranks.includes('2') ? '1' : '0';
  return {
    ...route,
    method,
    path: new RegExp(`^/${pattern}$`),
    rank: `${greedy}${ranks.join('')}${method === 'ANY' ? '1' : '0'}`,
  };
}

function segmentPattern(where: string, segment: string): string {
  const [, name, plus] = /^\{(\w+)(\+?)\}$/.exec(segment) ?? [];
  if (name !== undefined) return `(?<${name}>${plus ? '.+' : '[^/]+'})`;
  if (/[{}]/.test(segment)) throw new UnsupportedTemplateError(where, `${segment} is no segment of a route.`);
  return segment.replace(/[.*+?^$()|[\]\\]/g, '\\$&');
}
