import { Hono } from 'hono';
import type * as z from 'zod';
import { InvalidInputError } from '../../errors.ts';
import type { ImportedMessage, NewChannel } from '../../ports.ts';
import type { HttpDeps } from '../deps.ts';
import { presentChannel } from '../presenters.ts';
import type { Principal } from '../principal.ts';
import { bodyOf, channelOf, type Env, queryOf } from '../request.ts';
import { createChannelBody, defined, importChannelBody, listQuery, patchChannelBody } from '../schemas.ts';

type ChannelBody = z.output<typeof createChannelBody>;

/** A team's channel is made by its members only; anybody could otherwise put a channel into any team. */
function newChannel(body: ChannelBody, principal: Principal): NewChannel {
  if (body.team_id !== undefined && !principal.teams.includes(body.team_id)) {
    throw new InvalidInputError('not_in_team', `You are not in the team ${body.team_id}.`);
  }
  return defined({
    ownerId: principal.sub,
    teamId: body.team_id,
    title: body.title,
    type: body.type,
    model: body.model,
    providerConfigId: body.provider_config_id,
    settings: defined(body.settings),
  });
}

const imported = (message: z.output<typeof importChannelBody>['messages'][number]): ImportedMessage =>
  defined({
    ref: message.ref,
    parentRef: message.parent_ref,
    role: message.role,
    content: message.content,
    createdAt: message.created_at,
    metadata: message.metadata,
  });

export function channelRoutes(deps: HttpDeps): Hono<Env> {
  const { store } = deps;
  return new Hono<Env>()
    .post('/', async (c) => {
      const body = await bodyOf(c, createChannelBody);
      const channel = await store.createChannel(newChannel(body, c.var.principal));
      c.header('Location', `/channels/${channel.id}`);
      return c.json(presentChannel(channel), 201);
    })
    .post('/import', async (c) => {
      const body = await bodyOf(c, importChannelBody);
      const activeAt = body.updated_at === undefined ? {} : { activeAt: Date.parse(body.updated_at) };
      const channel = await store.importChannel(
        { ...newChannel(body, c.var.principal), ...activeAt },
        body.messages.map(imported),
        body.current_ref,
      );
      c.header('Location', `/channels/${channel.id}`);
      return c.json(presentChannel(channel), 201);
    })
    .get('/', async (c) => {
      const { limit, cursor } = queryOf(c, listQuery);
      const page = await store.listChannels(c.var.principal.sub, defined({ limit, after: cursor }));
      return c.json({ channels: page.channels.map(presentChannel), next_cursor: page.next ?? null });
    })
    .get('/:channelId', async (c) => c.json(presentChannel(await channelOf(c, deps))))
    .patch('/:channelId', async (c) => {
      const { id } = await channelOf(c, deps);
      const { settings, ...patch } = await bodyOf(c, patchChannelBody);
      const change =
        settings === undefined ? defined(patch) : { ...defined(patch), settings: defined(settings) };
      return c.json(presentChannel(await store.updateChannel(id, change)));
    })
    .delete('/:channelId', async (c) => {
      const { id } = await channelOf(c, deps);
      await store.deleteChannel(id);
      return c.body(null, 204);
    });
}
