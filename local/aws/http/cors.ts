import * as z from 'zod';
import { flag, wholeNumber } from '../template/properties.ts';

export const corsConfiguration = z.strictObject({
  AllowOrigins: z.array(z.string()).default([]),
  AllowMethods: z.array(z.string()).default([]),
  AllowHeaders: z.array(z.string()).default([]),
  ExposeHeaders: z.array(z.string()).default([]),
  AllowCredentials: flag.default(false),
  MaxAge: wholeNumber.optional(),
});

export type Cors = z.infer<typeof corsConfiguration>;

/** The headers that an allowed origin gets with every answer; none for another origin. */
export function corsHeaders(cors: Cors, origin: string | undefined): Record<string, string> {
  if (origin === undefined || !allows(cors, origin)) return {};
  return {
    'access-control-allow-origin': cors.AllowOrigins.includes('*') ? '*' : origin,
    ...(cors.AllowOrigins.includes('*') ? {} : { vary: 'Origin' }),
    ...(cors.AllowCredentials ? { 'access-control-allow-credentials': 'true' } : {}),
    ...(cors.ExposeHeaders.length > 0
      ? { 'access-control-expose-headers': cors.ExposeHeaders.join(',') }
      : {}),
  };
}

/** The headers that answer a preflight request. */
export function preflightHeaders(cors: Cors, origin: string | undefined): Record<string, string> {
  const headers = corsHeaders(cors, origin);
  if (Object.keys(headers).length === 0) return {};
  return {
    ...headers,
    'access-control-allow-methods': cors.AllowMethods.join(','),
    'access-control-allow-headers': cors.AllowHeaders.join(','),
    ...(cors.MaxAge === undefined ? {} : { 'access-control-max-age': String(cors.MaxAge) }),
  };
}

function allows(cors: Cors, origin: string): boolean {
  return cors.AllowOrigins.some(
    (allowed) =>
      allowed === '*' ||
      allowed === origin ||
      (allowed.endsWith('://*') && origin.startsWith(allowed.slice(0, -1))),
  );
}
