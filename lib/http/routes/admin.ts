import { Hono } from 'hono';
import type { AuditEntry } from '../../ports.ts';
import { globalSettings, parseSetting, SETTING_KEYS } from '../../settings/global.ts';
import type { HttpDeps } from '../deps.ts';
import { bodyOf, type Env, queryOf, requireAdmin } from '../request.ts';
import { auditQuery, modelBody, settingBody, usageQuery } from '../schemas.ts';

export function adminRoutes(deps: HttpDeps): Hono<Env> {
  const { store, clock, newId } = deps;

  const audit = (
    actor: string,
    action: string,
    resource: string,
    details: Record<string, unknown>,
  ): AuditEntry => ({
    id: newId(),
    at: clock(),
    actor,
    action,
    resource,
    details,
  });

  const routes = new Hono<Env>();
  routes.use(async (c, next) => {
    requireAdmin(c);
    await next();
  });
  return routes
    .get('/settings', async (c) => c.json(globalSettings(await store.readGlobal())))
    .get('/settings/:key', async (c) => {
      const key = SETTING_KEYS.find((known) => known === c.req.param('key'));
      if (key === undefined) parseSetting(c.req.param('key'), undefined);
      const settings = globalSettings(await store.readGlobal());
      return c.json({ key, value: key && settings[key] });
    })
    .put('/settings/:key', async (c) => {
      const key = c.req.param('key');
      const { value } = await bodyOf(c, settingBody);
      const parsed = parseSetting(key, value);
      await store.writeGlobal(
        key,
        parsed,
        audit(c.var.principal.sub, 'settings.update', `setting:${key}`, { value: parsed }),
      );
      return c.json({ key, value: parsed });
    })
    .get('/models', async (c) => c.json({ models: await store.readCatalog() }))
    .put('/models/:key', async (c) => {
      const key = c.req.param('key');
      const { max_context } = await bodyOf(c, modelBody);
      await store.writeCatalog(
        key,
        max_context,
        audit(c.var.principal.sub, 'models.update', `model:${key}`, { max_context }),
      );
      return c.json({ key, max_context });
    })
    .get('/usage', async (c) => {
      const entries = await store.listUsage(queryOf(c, usageQuery).day);
      const usage = entries.map((entry) => ({
        at: new Date(entry.at).toISOString(),
        channel_id: entry.channelId,
        user_id: entry.userId,
        team_id: entry.teamId ?? null,
        role: entry.role,
        model: entry.model,
        input_tokens: entry.inputTokens,
        output_tokens: entry.outputTokens,
        metadata: entry.metadata,
      }));
      return c.json({ usage });
    })
    .get('/audit', async (c) => {
      const entries = await store.listAudit(queryOf(c, auditQuery).month);
      const audits = entries.map(({ at, actor, action, resource, details }) => ({
        at: new Date(at).toISOString(),
        actor,
        action,
        resource,
        details,
      }));
      return c.json({ audit: audits });
    });
}
