import { AppError } from '../errors.ts';
import { InvalidRequestError } from './invalid-request.ts';

/** Who calls. The only place that knows what a token's claims are called. */
export type Principal = {
  readonly sub: string;
  readonly teams: readonly string[];
  readonly isAdmin: boolean;
};

export type Claims = Readonly<Record<string, unknown>>;

export const ADMIN_SCOPE = 'compaction/admin';
/** May act for a user, named in the header `x-on-behalf-of`. */
export const SERVICE_SCOPE = 'compaction/service';

/** As long as an id of this API may be. */
const MAX_USER_LENGTH = 128;

/** The authorizer passes a list on as `[a b]`, a token holds an array, a scope is words in a row. */
function listOf(claim: unknown, separator = /\s+/): string[] {
  if (Array.isArray(claim)) return claim.map(String);
  if (typeof claim !== 'string') return [];
  return claim
    .replace(/^\[|\]$/g, '')
    .split(separator)
    .filter((word) => word !== '');
}

/** Teams may also be an attribute of one string, which people separate by commas; a group's name may hold one. */
const TEAM_SEPARATOR = /[\s,]+/;

/** Silence about a header that does not count would let the caller write in the wrong name. */
function userActedFor(onBehalfOf: string, scopes: readonly string[]): string {
  if (!scopes.includes(SERVICE_SCOPE)) {
    throw new AppError(
      'service_only',
      `Only a token with the scope ${SERVICE_SCOPE} may act for another user; leave the header x-on-behalf-of out.`,
    );
  }
  if (onBehalfOf === '' || onBehalfOf.length > MAX_USER_LENGTH) {
    throw new InvalidRequestError([
      { field: 'x-on-behalf-of', message: `This must be a user's id of 1 to ${MAX_USER_LENGTH} characters.` },
    ]);
  }
  return onBehalfOf;
}

/**
 * Who a token speaks for. A service that acts for a user is never an administrator, so that the audit names who did
 * it. Throws `AppError` (`unauthenticated`, `service_only`) and `InvalidRequestError`.
 */
export function principalOf(claims: Claims | undefined, adminGroup: string, onBehalfOf?: string): Principal {
  const sub = claims?.sub;
  if (claims === undefined || typeof sub !== 'string' || sub === '') {
    throw new AppError('unauthenticated', 'The request carries no valid token.');
  }
  const scopes = listOf(claims.scope);
  const teams = listOf(claims['custom:teams'] ?? claims.teams, TEAM_SEPARATOR);
  if (onBehalfOf !== undefined) return { sub: userActedFor(onBehalfOf, scopes), teams, isAdmin: false };
  const groups = listOf(claims['cognito:groups'] ?? claims.groups);
  return { sub, teams, isAdmin: scopes.includes(ADMIN_SCOPE) || groups.includes(adminGroup) };
}
