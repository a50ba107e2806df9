import { Hono } from 'hono';
import { AppError, NotFoundError } from '../errors.ts';
import type { HttpDeps } from './deps.ts';
import { failureFields, problemOf } from './problems.ts';
import { authenticate, type Ctx, type Env } from './request.ts';
import { adminRoutes } from './routes/admin.ts';
import { channelRoutes } from './routes/channels.ts';
import { compactionRoutes } from './routes/compactions.ts';
import { messageRoutes } from './routes/messages.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/**
 * The whole HTTP API (design 8). Every error leaves it as an RFC 9457 problem. Cross-origin calls are the gateway's,
 * which answers preflight requests before its authorizer and drops what a function says about them.
 */
export function createApp(deps: HttpDeps): Hono<Env> {
  const { logger, clock } = deps;
  const app = new Hono<Env>();

  app.use(async (c, next) => {
    const startedAt = clock();
    await next();
    logger.info('http request', {
      method: c.req.method,
      route: c.req.routePath,
      status: c.res.status,
      duration_ms: clock() - startedAt,
      ...(c.var.code === undefined ? {} : { code: c.var.code }),
    });
  });

  app.get('/health', (c) => c.json({ status: 'ok' }));
  for (const path of ['/channels', '/channels/*', '/admin/*']) {
    app.use(path, async (c, next) => {
      c.set('principal', authenticate(c, deps));
      await next();
    });
  }
  app.route('/channels', channelRoutes(deps));
  app.route('/channels/:channelId', messageRoutes(deps));
  app.route('/channels/:channelId', compactionRoutes(deps));
  app.route('/admin', adminRoutes(deps));

  app.notFound((c) => respond(c, noRoute(app, c), deps));
  app.onError((error, c) => respond(c, error, deps));
  return app;
}

/** Tells a path that exists under another method from one that does not exist. */
function noRoute(app: Hono<Env>, c: Ctx): AppError {
  const others = METHODS.filter((method) => method !== c.req.method && isRouted(app, method, c.req.path));
  if (others.length === 0) return new NotFoundError('route_not_found', `There is nothing at ${c.req.path}.`);
  c.header('Allow', others.join(', '));
  return new AppError('method_not_allowed', `${c.req.path} takes ${others.join(', ')}.`);
}

/** A path is routed when a handler, not only a middleware, matches it. */
const isRouted = (app: Hono<Env>, method: string, path: string): boolean =>
  app.router.match(method, path)[0].some(([[, route]]) => route.method === method);

function respond(c: Ctx, error: unknown, { logger }: HttpDeps): Response {
  const { problem, retryAfterSeconds } = problemOf(error);
  c.set('code', problem.code);
  if (problem.status >= 500) {
    logger.error('http request failed', {
      code: problem.code,
      route: c.req.routePath,
      ...failureFields(error),
    });
  }
  if (problem.status === 401) c.header('WWW-Authenticate', 'Bearer');
  if (retryAfterSeconds !== undefined) c.header('Retry-After', `${retryAfterSeconds}`);
  return c.body(JSON.stringify(problem), problem.status as never, {
    'Content-Type': 'application/problem+json',
  });
}
