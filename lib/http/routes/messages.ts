import { Hono } from 'hono';
import type { HttpDeps } from '../deps.ts';
import { parseInput } from '../invalid-request.ts';
import { presentCursor, presentMessage } from '../presenters.ts';
import { bodyOf, channelOf, type Env, queryOf } from '../request.ts';
import { appendBody, appendHeaders, contextQuery, cursorBody, defined, pathQuery } from '../schemas.ts';

/** Writing into a conversation and reading it. */
export function messageRoutes(deps: HttpDeps): Hono<Env> {
  const { store } = deps;
  return new Hono<Env>()
    .post('/messages', async (c) => {
      const channel = await channelOf(c, deps);
      const { 'Idempotency-Key': idempotencyKey } = parseInput(appendHeaders, {
        'Idempotency-Key': c.req.header('idempotency-key'),
      });
      const body = await bodyOf(c, appendBody);
      const { message, redirectedFrom, replayed } = await store.append(
        defined({
          channelId: channel.id,
          userId: c.var.principal.sub,
          role: body.role,
          content: body.content,
          parentId: body.parent_id,
          branch: body.branch,
          metadata: body.metadata,
          reportedTokens: body.reported_tokens,
          idempotencyKey,
        }),
      );
      if (replayed) c.header('Idempotent-Replay', 'true');
      c.header('Location', `/channels/${channel.id}/messages/${message.id}`);
      return c.json({ ...presentMessage(message), redirected_from: redirectedFrom ?? null }, 201);
    })
    .get('/messages/:messageId', async (c) => {
      const channel = await channelOf(c, deps);
      return c.json(presentMessage(await store.getMessage(channel.id, c.req.param('messageId'))));
    })
    .get('/messages/:messageId/siblings', async (c) => {
      const channel = await channelOf(c, deps);
      const siblings = await store.siblings(channel.id, c.req.param('messageId'));
      return c.json({ messages: siblings.map(presentMessage) });
    })
    .get('/path', async (c) => {
      const channel = await channelOf(c, deps);
      const page = await store.readPath(channel.id, c.var.principal.sub, defined(queryOf(c, pathQuery)));
      return c.json({
        messages: page.messages.map((message) => ({
          ...presentMessage(message),
          sibling_count: message.siblingCount,
        })),
        next_before: page.next ?? null,
      });
    })
    .get('/context', async (c) => {
      const channel = await channelOf(c, deps);
      const { leaf_id } = queryOf(c, contextQuery);
      const context = await store.readContext(channel.id, c.var.principal.sub, leaf_id);
      const { pinned, summary, messages } = context;
      return c.json({
        ...presentCursor(context.cursor),
        summary_id: summary?.id ?? null,
        messages: [...pinned, ...(summary ? [summary] : []), ...messages].map(presentMessage),
      });
    })
    .put('/cursor', async (c) => {
      const channel = await channelOf(c, deps);
      const { message_id } = await bodyOf(c, cursorBody);
      return c.json(presentCursor(await store.switchCursor(channel.id, c.var.principal.sub, message_id)));
    })
    .post('/undo', async (c) => {
      const channel = await channelOf(c, deps);
      return c.json(presentCursor(await store.undoSummary(channel.id, c.var.principal.sub)));
    })
    .post('/redo', async (c) => {
      const channel = await channelOf(c, deps);
      return c.json(presentCursor(await store.redoSummary(channel.id, c.var.principal.sub)));
    });
}
