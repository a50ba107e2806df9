import * as z from 'zod';
import { InvalidTemplateError, UnsupportedTemplateError } from '../errors.ts';
import type { Resource } from './resolve.ts';

/** A property that has no effect on one machine: encryption, tags, who may call, how it is watched. */
export const noEffect = z.unknown().optional();

export const flag = z.union([z.boolean(), z.stringbool()]);
/** CloudFormation takes numbers as text as well. */
export const wholeNumber = z.coerce.number().int().nonnegative();

/**
 * The properties of a resource that an engine runs. Throws `UnsupportedTemplateError` for a property that the engine
 * does not know and `InvalidTemplateError` for a wrong value, naming the resource and the property.
 */
export function parseProperties<S extends z.ZodType>(resource: Resource, schema: S): z.infer<S> {
  const parsed = schema.safeParse(resource.properties);
  if (parsed.success) return parsed.data;
  const where = `${resource.logicalId} (${resource.type})`;
  const [issue] = parsed.error.issues;
  const path = issue?.path.join('.') ?? '';
  if (issue?.code === 'unrecognized_keys') {
    const property = [...(path ? [path] : []), issue.keys[0]].join('.');
    throw new UnsupportedTemplateError(
      where,
      `the embedded AWS does not know the property ${property}, so what runs here would not be what is deployed.`,
    );
  }
  throw new InvalidTemplateError(where, `the property ${path || 'list'} is wrong: ${issue?.message}.`);
}
