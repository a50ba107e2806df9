import type * as z from 'zod';
import { InvalidInputError } from '../errors.ts';

export type FieldError = { readonly field: string; readonly message: string };

/** More would help nobody: an import can break the same rule twenty thousand times. */
const MAX_ERRORS = 20;
/** Names in a message come from the caller. */
const MAX_LENGTH = 200;

/** What came does not have the shape that the route takes (422 `invalid_request`). */
export class InvalidRequestError extends InvalidInputError {
  readonly errors: readonly FieldError[];

  constructor(errors: readonly FieldError[]) {
    const [first] = errors;
    super('invalid_request', first ? `${first.field}: ${first.message}` : 'The request is not valid.');
    this.errors = errors;
  }
}

type Issue = z.core.$ZodIssue;

const short = (text: string): string => (text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text);

/** Longest path among the first issues of a union's branch: how far the input fitted it. */
const depthOf = (branch: readonly Issue[]): number =>
  Math.max(0, ...branch.slice(0, MAX_ERRORS).map(({ path }) => path.length));

/** "Matches no branch" helps nobody; the branch that fitted furthest says what is wrong. */
function flatten(issue: Issue, above: readonly PropertyKey[]): FieldError[] {
  const path = [...above, ...issue.path];
  if (issue.code === 'invalid_union') {
    const nearest = [...issue.errors].sort((a, b) => depthOf(b) - depthOf(a))[0];
    if (nearest !== undefined && depthOf(nearest) > 0)
      return nearest.flatMap((inner) => flatten(inner, path));
  }
  const message =
    issue.code === 'invalid_union' && issue.discriminator !== undefined
      ? 'This is none of the known types.'
      : issue.message;
  return [{ field: short(path.map(String).join('.')) || '(body)', message: short(message) }];
}

/** The fields that break a rule, the first of them when there are many. Holds no value that was sent. */
export const fieldErrorsOf = (error: z.ZodError): readonly FieldError[] =>
  error.issues
    .slice(0, MAX_ERRORS)
    .flatMap((issue) => flatten(issue, []))
    .slice(0, MAX_ERRORS);

/** Input from outside by its schema. Throws `InvalidRequestError`. */
export function parseInput<T extends z.ZodType>(schema: T, input: unknown): z.output<T> {
  const parsed = schema.safeParse(input);
  if (!parsed.success) throw new InvalidRequestError(fieldErrorsOf(parsed.error));
  return parsed.data;
}
