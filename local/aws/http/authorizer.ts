import { createRemoteJWKSet, errors, type JWTPayload, jwtVerify } from 'jose';
import * as z from 'zod';
import { UnsupportedTemplateError } from '../errors.ts';
import { parseProperties } from '../template/properties.ts';
import type { Resource } from '../template/resolve.ts';

const authorizerProperties = z.strictObject({
  ApiId: z.string(),
  AuthorizerType: z.literal('JWT', 'only JWT authorizers run here'),
  IdentitySource: z.array(z.string()).min(1),
  JwtConfiguration: z.strictObject({ Issuer: z.url(), Audience: z.array(z.string()).min(1) }),
  Name: z.string(),
});

/** What an HTTP API passes on about a token; every claim is a text. */
export type Authorization = {
  readonly claims: Readonly<Record<string, string>>;
  readonly scopes: readonly string[] | null;
};

export type Verdict =
  | { readonly allowed: true; readonly jwt: Authorization }
  | { readonly allowed: false; readonly status: 401 | 403 };

/** Checks the token of a request; `scopes` are those of which the route wants at least one. */
export type Authorizer = (
  request: { header(name: string): string | undefined; query(name: string): string | undefined },
  scopes: readonly string[],
) => Promise<Verdict>;

const REFUSED: Verdict = { allowed: false, status: 401 };
/** API Gateway verifies signatures of RSA keys only. */
/** How long an issuer may take to tell where its keys are. */
const DISCOVERY_MS = 5_000;
const ALGORITHMS = ['RS256', 'RS384', 'RS512'];

/**
 * A JWT authorizer: the issuer's keys, `iss`, `aud` (or `client_id` where there is none), `exp` and `nbf` are checked.
 * Keys are fetched at the first token and when a token names an unknown one.
 */
export function createAuthorizer(resource: Resource, onProblem: (message: string) => void): Authorizer {
  const properties = parseProperties(resource, authorizerProperties);
  const where = `${resource.logicalId} (${resource.type})`;
  const source = identitySource(where, properties.IdentitySource[0] ?? '');
  const { Issuer: issuer, Audience: audience } = properties.JwtConfiguration;
  let keys: ReturnType<typeof createRemoteJWKSet> | undefined;
  return async (request, scopes) => {
    const token = source(request);
    if (token === undefined) return REFUSED;
    try {
      keys ??= await discover(issuer);
      const { payload } = await jwtVerify(token, keys, {
        issuer,
        algorithms: ALGORITHMS,
        requiredClaims: ['exp'],
      });
      if (!isFor(payload, audience)) return REFUSED;
      return authorize(payload, scopes);
    } catch (error) {
      // A token that is wrong is the caller's matter; an issuer that does not answer is ours.
      if (!(error instanceof errors.JOSEError))
        onProblem(`The issuer ${issuer} cannot be asked: ${String(error)}`);
      return REFUSED;
    }
  };
}

async function discover(issuer: string): Promise<ReturnType<typeof createRemoteJWKSet>> {
  const response = await fetch(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`, {
    signal: AbortSignal.timeout(DISCOVERY_MS),
  });
  if (!response.ok) throw new Error(`its discovery document answers ${response.status}`);
  const { jwks_uri: uri } = (await response.json()) as { jwks_uri?: unknown };
  return createRemoteJWKSet(new URL(String(uri)), { cooldownDuration: 1_000 });
}

function identitySource(where: string, expression: string) {
  const [, kind, name = ''] = /^\$request\.(header|querystring)\.([\w-]+)$/.exec(expression) ?? [];
  if (kind === undefined)
    throw new UnsupportedTemplateError(where, `${expression} is no source of a token here.`);
  return (request: Parameters<Authorizer>[0]): string | undefined => {
    const value = kind === 'header' ? request.header(name.toLowerCase()) : request.query(name);
    const token = value?.replace(/^bearer\s+/i, '').trim();
    return token === '' ? undefined : token;
  };
}

function isFor(payload: JWTPayload, audience: readonly string[]): boolean {
  const named = payload.aud === undefined ? [payload.client_id] : [payload.aud].flat();
  return named.some((name) => typeof name === 'string' && audience.includes(name));
}

function authorize(payload: JWTPayload, wanted: readonly string[]): Verdict {
  const claims = Object.fromEntries(Object.entries(payload).map(([name, value]) => [name, claimText(value)]));
  if (wanted.length === 0) return { allowed: true, jwt: { claims, scopes: null } };
  const granted = String(payload.scope ?? payload.scp ?? '').split(/[ ,]+/);
  if (!wanted.some((scope) => granted.includes(scope))) return { allowed: false, status: 403 };
  return { allowed: true, jwt: { claims, scopes: granted } };
}

/** API Gateway writes a list as `[a b]`, without quotes and commas. */
function claimText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(claimText).join(' ')}]`;
  if (typeof value === 'object' && value !== null) return JSON.stringify(value);
  return String(value);
}
