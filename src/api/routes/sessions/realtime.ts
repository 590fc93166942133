import type { FastifyRequest } from 'fastify';
import { z } from 'zod';

import type { Access } from '../../plugins/accessControl.ts';
import type { WebSockets } from '../../plugins/webSockets.ts';
import type { App, HttpDeps } from '../../ports.ts';
import { agentVersionHeaders, wantsDraft } from '../../requestHeaders.ts';
import { about, errors, projectParams } from '../../schemas.ts';
import { requireUpgrade, streamForwarder } from './mediaStreams.ts';

const TAG = 'Media streams';
const DIALECT = 'openai-realtime';
const ACCESS: Access = { kind: 'project', scope: 'calls' };
/** Browsers send no headers with a WebSocket. */
const TICKET_PROTOCOL = 'openai-insecure-api-key.';

const query = z.object({
  model: z.string().max(200).optional().describe('Without effect: the agent’s own model answers.'),
});
const session = z
  .looseObject({ type: z.literal('realtime').optional() })
  .optional()
  .describe('Without effect: the client sends `session.update`.');

const secret = z
  .object({
    value: z
      .string()
      .describe(
        'Admits one connection to `GET /v1/realtime`, as its API key or as a ticket of media streams.',
      ),
    expires_at: z.int().describe('Unix seconds; after 30 s.'),
    session: z.object({ type: z.literal('realtime'), model: z.string() }),
  })
  .meta({ id: 'RealtimeClientSecret' });

/** OpenAI's Realtime interface, at the addresses where its clients look for it. */
export function realtimeRoutes(app: App, { audio: { mediaStreams } }: HttpDeps, sockets: WebSockets): void {
  if (!mediaStreams) return;
  const forward = streamForwarder(mediaStreams, sockets);
  const shared = { response: { 101: z.null().describe('The WebSocket is open.'), ...errors() } };
  app.get(
    '/v1/projects/:projectId/realtime',
    {
      config: { access: ACCESS, isLong: true },
      schema: {
        ...about(
          TAG,
          'Talk by OpenAI’s Realtime interface',
          'A WebSocket in the dialect `openai-realtime`, in a new session. Clients need only the project’s address as their base URL, and a key of the project.',
        ),
        params: projectParams,
        querystring: query,
        headers: agentVersionHeaders,
        ...shared,
      },
    },
    async (request, reply) => {
      requireUpgrade(request, sockets);
      const opened = await mediaStreams.open(request.params.projectId, {
        dialect: DIALECT,
        draft: wantsDraft(request),
      });
      await forward(request, reply, opened.ticket);
    },
  );
  app.get(
    '/v1/realtime',
    {
      schema: {
        tags: [TAG],
        summary: 'Talk by OpenAI’s Realtime interface with a ticket',
        description:
          'As a project’s own address, for clients that have no key: a client secret, or the last part of the `url` of a media stream in the dialect `openai-realtime`, as `Authorization: Bearer`, or in browsers as the subprotocol `openai-insecure-api-key.<secret>` beside `realtime`.',
        querystring: query,
        ...shared,
      },
    },
    async (request, reply) => await forward(request, reply, ticketOf(request)),
  );
  app.post(
    '/v1/projects/:projectId/realtime/client_secrets',
    {
      config: { access: ACCESS },
      schema: {
        ...about(
          TAG,
          'Create a client secret',
          'Opens a stream in the dialect `openai-realtime`, as OpenAI’s clients ask for it.',
        ),
        params: projectParams,
        headers: agentVersionHeaders,
        body: z.looseObject({ session }),
        response: { 200: secret, ...errors('body') },
      },
    },
    async (request) => {
      const draft = wantsDraft(request);
      const { ticket, expiresAt } = await mediaStreams.open(request.params.projectId, {
        dialect: DIALECT,
        draft,
      });
      const expires_at = Math.floor(Date.parse(expiresAt) / 1000);
      return { value: ticket, expires_at, session: { type: 'realtime' as const, model: 'callway' } };
    },
  );
}

function ticketOf({ headers }: FastifyRequest): string | undefined {
  const [, token] = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '') ?? [];
  const offered = headers['sec-websocket-protocol']?.split(',').map((name) => name.trim());
  const protocol = offered?.find((name) => name.startsWith(TICKET_PROTOCOL));
  return token ?? protocol?.slice(TICKET_PROTOCOL.length);
}
