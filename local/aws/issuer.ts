import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type CryptoKey, exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from 'jose';
import { EmbeddedAwsError } from './errors.ts';
import type { Resource } from './template/resolve.ts';
import type { TokenClaims } from './types.ts';

const ALGORITHM = 'RS256';
const KEY_FILE = 'issuer-key.json';

type Key = { readonly private: CryptoKey; readonly public: JWK };

/** A user pool as an OIDC issuer: discovery and public keys over HTTP, and tokens of any content for its own machine. */
export type Issuer = {
  readonly url: string;
  /** The document at a path of the gateway, when it is one of this issuer. */
  document(path: string): object | undefined;
  mint(claims: TokenClaims): Promise<string>;
};

/** The issuer of the stack's user pool; its key lives in `dataDir`, so tokens outlive a restart. */
export async function createIssuer(
  pool: Resource,
  clients: readonly Resource[],
  dataDir: string | undefined,
): Promise<Issuer> {
  const key = await loadKey(dataDir);
  const url = pool.attributes.ProviderURL ?? '';
  const path = new URL(url).pathname;
  const documents: Readonly<Record<string, object>> = {
    [`${path}/.well-known/openid-configuration`]: discovery(url),
    [`${path}/.well-known/jwks.json`]: { keys: [key.public] },
  };
  return {
    url,
    document: (wanted) => documents[wanted],
    mint: (claims) => mint(key, url, clients[0]?.ref, claims),
  };
}

function discovery(url: string): object {
  return {
    issuer: url,
    jwks_uri: `${url}/.well-known/jwks.json`,
    id_token_signing_alg_values_supported: [ALGORITHM],
    response_types_supported: ['code', 'token'],
    subject_types_supported: ['public'],
    scopes_supported: ['openid', 'email', 'phone', 'profile'],
  };
}

/** An access token as a user pool makes them: the client is in `client_id`, there is no `aud`. */
async function mint(
  key: Key,
  issuer: string,
  clientId: string | undefined,
  claims: TokenClaims,
): Promise<string> {
  const { sub, groups, expiresIn = 3600, ...others } = claims;
  const now = Math.floor(Date.now() / 1000);
  const payload = {
    iss: issuer,
    sub,
    username: sub,
    token_use: 'access',
    jti: randomUUID(),
    auth_time: now,
    iat: now,
    exp: now + expiresIn,
    ...(clientId === undefined ? {} : { client_id: clientId }),
    ...(groups === undefined ? {} : { 'cognito:groups': groups }),
    ...others,
  };
  return new SignJWT(payload)
    .setProtectedHeader({ alg: ALGORITHM, kid: key.public.kid ?? '' })
    .sign(key.private);
}

async function loadKey(dataDir: string | undefined): Promise<Key> {
  const file = dataDir === undefined ? undefined : join(dataDir, KEY_FILE);
  const stored = file === undefined ? undefined : await readFile(file, 'utf8').catch(() => undefined);
  const jwk = stored === undefined ? await newKey() : parseKey(stored, file ?? '');
  if (stored === undefined && file !== undefined) await writeFile(file, JSON.stringify(jwk), { mode: 0o600 });
  const { kty, n, e, kid } = jwk as { kty: string; n: string; e: string; kid: string };
  const signing = await importJWK(jwk, ALGORITHM);
  return { private: signing as CryptoKey, public: { kty, n, e, kid, alg: ALGORITHM, use: 'sig' } };
}

async function newKey(): Promise<JWK> {
  const { privateKey } = await generateKeyPair(ALGORITHM, { extractable: true });
  return { ...(await exportJWK(privateKey)), kid: randomUUID() };
}

function parseKey(text: string, file: string): JWK {
  try {
    const jwk = JSON.parse(text) as JWK;
    if (jwk.kty === 'RSA' && typeof jwk.d === 'string') return jwk;
  } catch {
    // Told below
  }
  throw new EmbeddedAwsError(
    'data_damaged',
    `${file} holds no signing key: delete it, and new tokens are made with a new one.`,
  );
}
