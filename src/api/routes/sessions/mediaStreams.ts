import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';

import type { WidgetPrincipal } from '../../../agents/accounts/principal.ts';
import { requireMinutes } from '../../../agents/accounts/widgetToken.ts';
import { CallwayError } from '../../../base/errors.ts';
import { dialectName, dialects } from '../../../dialects/index.ts';
import { SIGNATURE_HEADER } from '../../../dialects/twilioSignature.ts';
import type { MediaStreams, OpenedStream } from '../../../streams/mediaStreams.ts';
import { idempotentAround } from '../../idempotency.ts';
import type { WebSockets } from '../../plugins/webSockets.ts';
import type { App, HttpDeps } from '../../ports.ts';
import { agentVersionHeaders, sessionIdField, wantsDraft } from '../../requestHeaders.ts';
import { about, errors, projectParams } from '../../schemas.ts';
import { notForWidgets, providerOf, requireOwnSession, visitorOf } from '../../visitors.ts';

const input = z.strictObject({
  dialect: dialectName.describe('The protocol that the connecting side speaks.'),
  sessionId: sessionIdField
    .optional()
    .describe('A live session is continued; otherwise a new one is created, with this id or a new one.'),
  variables: z.record(z.string(), z.unknown()).optional().describe('Variables of a new session.'),
  captions: z
    .boolean()
    .optional()
    .describe(
      'In the dialect `callway`: messages `caption` tell what both sides say. Default: false; true with a widget’s token.',
    ),
});

const opened = z
  .object({
    streamId: z.uuid(),
    sessionId: z.string(),
    url: z
      .string()
      .nullable()
      .describe('Valid for one connection, within 30 s. Null in a repeated response.'),
    expiresAt: z.iso.datetime(),
  })
  .meta({ id: 'MediaStream' });

const PROTOCOL = `A WebSocket that carries one voice session. The connecting side has the caller: it sends the caller's audio and plays what comes back. Its messages depend on the stream's dialect.

${Object.entries(dialects)
  .map(([name, { description }]) => `\`${name}\`${description}`)
  .join('\n\n')}`;

export function mediaStreamRoutes(app: App, deps: HttpDeps): void {
  const {
    audio: { mediaStreams },
  } = deps;
  if (!mediaStreams) return;
  app.post(
    '/v1/projects/:projectId/media-streams',
    {
      config: { access: { kind: 'project', scope: 'calls', widget: true } },
      schema: {
        ...about(
          'Media streams',
          'Open a stream',
          'Returns the address at which one WebSocket can talk with the agent. A widget’s token opens streams of the dialect `callway`, and continues only sessions that were begun with it; the WebSocket must come from a page of an allowed origin.',
        ),
        params: projectParams,
        headers: agentVersionHeaders,
        body: input,
        response: { 201: opened, ...errors('body', 409) },
      },
    },
    async (request, reply) => {
      const visitor = visitorOf(request);
      if (visitor)
        return await reply.code(201).send(await openForVisitor(deps, mediaStreams, visitor, request.body));
      const withoutSecrets = (body: z.infer<typeof opened>) => ({ ...body, url: null });
      const { projectId } = request.params;
      const order = { ...request.body, draft: wantsDraft(request) };
      return await idempotentAround<z.infer<typeof opened>>(
        deps,
        { request, reply, status: 201, withoutSecrets },
        async (store) => {
          const stream = await mediaStreams.open(projectId, order);
          return await store(async () => stream);
        },
      );
    },
  );
}

/**
 * The WebSockets of audio streams: those opened by the route above, and those of other nodes' calls. A voice thread ends
 * them.
 */
export function audioStreamRoutes(
  app: App,
  { audio: { mediaStreams } }: HttpDeps,
  sockets: WebSockets,
): void {
  if (!mediaStreams) return;
  const forward = streamForwarder(mediaStreams, sockets);
  const schema = {
    tags: ['Media streams'],
    summary: 'Talk over a WebSocket',
    description: PROTOCOL,
    response: { 101: z.null().describe('The WebSocket is open.'), ...errors() },
  };
  app.get(
    '/v1/media-streams',
    { schema: { ...schema, querystring: z.object({ ticket: z.string().max(200).optional() }) } },
    (request, reply) => forward(request, reply, request.query.ticket),
  );
  app.get(
    '/v1/media-streams/:ticket',
    { schema: { ...schema, params: z.object({ ticket: z.string().max(200) }) } },
    (request, reply) => forward(request, reply, request.params.ticket),
  );
}

/** @returns Passes the connection of a ticket on. */
export function streamForwarder(mediaStreams: MediaStreams, sockets: WebSockets) {
  return async (request: FastifyRequest, reply: FastifyReply, ticket: string | undefined): Promise<void> => {
    if (ticket === undefined) throw invalidTicket();
    requireUpgrade(request, sockets);
    const url = await mediaStreams.forward(ticket, {
      signature: headerOf(request, SIGNATURE_HEADER),
      path: request.raw.url ?? '',
      host: request.host,
      origin: request.headers.origin,
    });
    if (url === undefined) throw invalidTicket();
    await sockets.relay(request, reply, url);
  };
}

function headerOf({ headers }: FastifyRequest, name: string): string | undefined {
  const value = headers[name.toLowerCase()];
  return typeof value === 'string' ? value : undefined;
}

/** Repetitions are not recognised: a visitor would get what another one was answered. */
async function openForVisitor(
  { sessions: { conversations }, storage, clock }: HttpDeps,
  mediaStreams: MediaStreams,
  visitor: WidgetPrincipal,
  { dialect, sessionId, variables }: z.infer<typeof input>,
): Promise<OpenedStream> {
  if (dialect !== 'callway') throw notForWidgets('/dialect', 'A widget speaks the dialect callway');
  if (variables !== undefined) throw notForWidgets('/variables', 'A widget sets no variables');
  if (sessionId !== undefined) await requireOwnSession(conversations, visitor, sessionId);
  const { keyId: tokenId, projectId, allowedOrigins, maxConcurrent } = visitor;
  const now = clock.now();
  requireMinutes(await storage.stores.widgetTokens.msLeftToday(tokenId, new Date(now)), now);
  return await mediaStreams.open(projectId, {
    dialect,
    sessionId,
    captions: true,
    provider: providerOf(visitor),
    visitor: { tokenId, allowedOrigins, maxConcurrent },
  });
}

/** @throws {CallwayError} 400 `upgrade_required` */
export function requireUpgrade(request: FastifyRequest, sockets: WebSockets): void {
  if (!sockets.isUpgrade(request))
    throw new CallwayError('invalid', 'upgrade_required', 'This address accepts WebSockets only');
}

function invalidTicket(): CallwayError {
  return new CallwayError(
    'unauthenticated',
    'invalid_ticket',
    'The address has no valid ticket; open a stream to get a new one',
  );
}
