import type { Context } from 'hono';
import type * as z from 'zod';
import { AppError, NotFoundError } from '../errors.ts';
import type { Channel } from '../treepath/channel.ts';
import { parseBody } from './body.ts';
import type { HttpDeps } from './deps.ts';
import { parseInput } from './invalid-request.ts';
import { type Claims, type Principal, principalOf } from './principal.ts';

/** What API Gateway hands to the function with each request. */
type LambdaEnv = {
  readonly event?: {
    readonly requestContext?: { readonly authorizer?: { readonly jwt?: { readonly claims?: Claims } } };
  };
};

export type Env = {
  Bindings: LambdaEnv;
  Variables: {
    principal: Principal;
    /** Code of the problem that was answered, for the log. */
    code?: string;
  };
};
export type Ctx = Context<Env>;

export function authenticate(c: Ctx, { adminGroup }: HttpDeps): Principal {
  const claims = c.env?.event?.requestContext?.authorizer?.jwt?.claims;
  return principalOf(claims, adminGroup, c.req.header('x-on-behalf-of'));
}

/** The body by its schema. Throws what `parseBody` throws, and `InvalidRequestError`. */
export async function bodyOf<T extends z.ZodType>(c: Ctx, schema: T): Promise<z.output<T>> {
  return parseInput(schema, parseBody(await c.req.text()));
}

export const queryOf = <T extends z.ZodType>(c: Ctx, schema: T): z.output<T> =>
  parseInput(schema, c.req.query());

const mayUse = (channel: Channel, { sub, teams }: Principal): boolean =>
  channel.ownerId === sub || (channel.teamId !== undefined && teams.includes(channel.teamId));

/** The channel in the path, when it is the caller's to use; anybody else's is as if it were not there. */
export async function channelOf(c: Ctx, { store }: HttpDeps): Promise<Channel> {
  const channelId = c.req.param('channelId') ?? '';
  const channel = await store.getChannel(channelId);
  if (!mayUse(channel, c.var.principal)) {
    throw new NotFoundError('channel_not_found', `There is no channel ${channelId}.`);
  }
  return channel;
}

export function requireAdmin(c: Ctx): Principal {
  const { principal } = c.var;
  if (!principal.isAdmin) throw new AppError('admin_only', 'This is for administrators.');
  return principal;
}
