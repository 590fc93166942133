import type { FastifyRequest } from 'fastify';
import { z } from 'zod';

import { CallwayError } from '../../../base/errors.ts';
import { dialectName, dialects } from '../../../streams/dialects/index.ts';
import type { StreamGrant } from '../../../streams/streamTickets.ts';
import { agentVersionHeaders, wantsDraft } from '../../agentVersion.ts';
import type { App } from '../../app.ts';
import { createOnceApart } from '../../idempotency.ts';
import type { Access } from '../../plugins/accessControl.ts';
import type { HttpDeps } from '../../ports.ts';
import { sessionIdField } from '../../requestHeaders.ts';
import { about, errors, projectParams } from '../../schemas.ts';

const access: Access = { kind: 'project', scope: 'calls' };

const input = z.strictObject({
  dialect: dialectName.describe('The protocol that the connecting side speaks.'),
  sessionId: sessionIdField
    .optional()
    .describe('A live session goes on; else one is made, under this id or a new one.'),
  variables: z.record(z.string(), z.unknown()).optional().describe('Of a new session.'),
});

const opened = z
  .object({
    streamId: z.uuid(),
    sessionId: z.string(),
    url: z
      .string()
      .nullable()
      .describe('Lets one connection in, for 30 s. Null when the answer is a repetition.'),
    expiresAt: z.iso.datetime(),
  })
  .meta({ id: 'MediaStream' });

const PROTOCOL = `A WebSocket that carries one voice session. The connecting side has the caller: it sends the caller's audio and plays what comes back. Its messages depend on the stream's dialect.

${Object.entries(dialects)
  .map(([name, { description }]) => `\`${name}\`${description}`)
  .join('\n\n')}`;

declare module 'fastify' {
  interface FastifyRequest {
    /** What the ticket of a WebSocket lets in. */
    stream: StreamGrant | undefined;
  }
}

export function mediaStreamRoutes(app: App, deps: HttpDeps): void {
  const { mediaStreams } = deps;
  if (!mediaStreams) return;
  app.post(
    '/v1/projects/:projectId/media-streams',
    {
      config: { access },
      schema: {
        ...about(
          'Media streams',
          'Open a stream',
          'Makes the address at which one WebSocket can talk with the agent.',
        ),
        params: projectParams,
        headers: agentVersionHeaders,
        body: input,
        response: { 201: opened, ...errors('body', 409) },
      },
    },
    (request, reply) =>
      createOnceApart(
        deps,
        request,
        reply,
        { status: 201, withoutSecrets: (body) => ({ ...body, url: null }) },
        async (): Promise<z.infer<typeof opened>> =>
          await mediaStreams.open(request.params.projectId, { ...request.body, draft: wantsDraft(request) }),
      ),
  );
}

/** Where the WebSockets of streams come in: those of carriers that were opened here, and those of our own calls. */
export function talkRoutes(app: App, { mediaStreams }: HttpDeps): void {
  if (!mediaStreams) return;
  app.decorateRequest('stream', undefined);
  const letIn = async (request: FastifyRequest, ticket: string | undefined) => {
    if (ticket === undefined) throw badTicket();
    if (!request.ws) {
      throw new CallwayError('invalid', 'upgrade_required', 'This address takes WebSockets only');
    }
    request.stream = await mediaStreams.redeem(ticket);
    if (!request.stream) throw badTicket();
  };
  const refusePlain = async (): Promise<never> => {
    throw new CallwayError('invalid', 'upgrade_required', 'This address takes WebSockets only');
  };
  const schema = {
    tags: ['Media streams'],
    summary: 'Talk over a WebSocket',
    description: PROTOCOL,
    response: { 101: z.null().describe('The WebSocket is open.'), ...errors() },
  };
  const serve = (request: FastifyRequest, socket: Parameters<typeof mediaStreams.serve>[1]) => {
    if (request.stream) void mediaStreams.serve(request.stream, socket);
  };
  app.route({
    method: 'GET',
    url: '/v1/media-streams',
    schema: { ...schema, querystring: z.object({ ticket: z.string().max(200).optional() }) },
    preHandler: (request) => letIn(request, request.query.ticket),
    handler: refusePlain,
    wsHandler: (socket, request) => serve(request, socket),
  });
  app.route({
    method: 'GET',
    url: '/v1/media-streams/:ticket',
    schema: { ...schema, params: z.object({ ticket: z.string().max(200) }) },
    preHandler: (request) => letIn(request, request.params.ticket),
    handler: refusePlain,
    wsHandler: (socket, request) => serve(request, socket),
  });
}

const badTicket = () =>
  new CallwayError(
    'unauthenticated',
    'invalid_ticket',
    'The address carries no ticket that is still good; open a stream for a new one',
  );
