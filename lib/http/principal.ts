import { AppError } from '../errors.ts';

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

/** The authorizer passes a list on as `[a b]`, a token holds an array, a scope is words in a row. */
function listOf(claim: unknown): string[] {
  if (Array.isArray(claim)) return claim.map(String);
  if (typeof claim !== 'string') return [];
  return claim
    .replace(/^\[|\]$/g, '')
    .split(/[\s,]+/)
    .filter((word) => word !== '');
}

/** Throws `AppError` (`unauthenticated`) when the token names no one. */
export function principalOf(claims: Claims | undefined, adminGroup: string, onBehalfOf?: string): Principal {
  const sub = claims?.sub;
  if (claims === undefined || typeof sub !== 'string' || sub === '') {
    throw new AppError('unauthenticated', 'The request carries no valid token.');
  }
  const scopes = listOf(claims.scope);
  const actsFor = onBehalfOf !== undefined && scopes.includes(SERVICE_SCOPE) ? onBehalfOf : sub;
  return {
    sub: actsFor,
    teams: listOf(claims['custom:teams'] ?? claims.teams),
    isAdmin:
      scopes.includes(ADMIN_SCOPE) || listOf(claims['cognito:groups'] ?? claims.groups).includes(adminGroup),
  };
}
