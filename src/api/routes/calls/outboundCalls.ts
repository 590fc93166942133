import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';

import {
  type AcceptedCall,
  acceptedCall,
  type OutboundOrderInput,
  outboundCallFields,
} from '../../../calls/setup/outboundOrder.ts';
import { idempotentAround } from '../../idempotency.ts';
import { requireProject } from '../../plugins/accessControl.ts';
import type { App, HttpDeps } from '../../ports.ts';
import { agentVersionHeaders, traceparentOf, wantsDraft } from '../../requestHeaders.ts';
import { about, errors, projectParams } from '../../schemas.ts';
import { acceptMedia } from './mediaTarget.ts';

const V1 = '/v1/calls/outbound';
const LEGACY = '/project/:projectId/integration/phone/call/outbound';

/** Unknown fields are ignored here: clients of the legacy path may send more. */
const legacyBody = z.object(outboundCallFields).meta({ id: 'LegacyOutboundCall' });
const v1Body = z
  .strictObject({
    projectId: z.uuid().describe('The project of the key.'),
    ...outboundCallFields,
  })
  .meta({ id: 'OutboundCall' });

const DESCRIPTION = `One call per project and number can be queued or live at a time; a second one is 409 \`number_already_queued\`.
With \`notBefore\` the call is \`scheduled\`: until it is due it holds no number and counts in no limit but the quota \`scheduledCalls\`, and hanging up cancels it. Its session runs on the agent as it was when the call was ordered. When it is due, limits apply as to any call. While its number is in another call it waits, and after 15 minutes it ends as \`failed\` with \`number_already_queued\`.
422 \`destination_not_allowed\` and 429 \`call_rate_exceeded\`, \`call_minutes_exhausted\` or \`call_spending_exhausted\` are limits of the project, and 429 \`quota_exceeded\` its quota of scheduled calls.
404 says what is missing: \`from_number_not_configured\`, \`from_number_inactive\` or \`no_active_trunk\`.`;

/** The route on its two paths: the /v1 body names the project, the legacy path does. */
export function outboundCallRoutes(app: App, deps: HttpDeps): void {
  v1Route(app, deps);
  legacyRoute(app, deps);
}

function v1Route(app: App, deps: HttpDeps): void {
  app.post(
    V1,
    {
      config: { access: { kind: 'key', scope: 'calls' } },
      schema: {
        ...about('Calls', 'Place a call', DESCRIPTION),
        headers: agentVersionHeaders,
        body: v1Body,
        response: { 202: acceptedCall, ...errors('body', 409, 422) },
      },
      // Before validation: a key of another project learns nothing about the body.
      preValidation: async (request) => {
        const { projectId } = (request.body ?? {}) as { projectId?: unknown };
        if (typeof projectId === 'string') requireProject(request, projectId);
      },
    },
    (request, reply) => accept(deps, request, reply, 202, request.body),
  );
}

function legacyRoute(app: App, deps: HttpDeps): void {
  app.post(
    LEGACY,
    {
      config: { access: { kind: 'legacy', scope: 'calls' }, successor: V1 },
      schema: {
        ...about('Calls', 'Place a call', DESCRIPTION),
        deprecated: true,
        params: projectParams,
        headers: agentVersionHeaders,
        body: legacyBody,
        response: { 200: acceptedCall, ...errors('body', 409, 422) },
      },
    },
    (request, reply) =>
      accept(deps, request, reply, 200, { ...request.body, projectId: request.params.projectId }),
  );
}

function accept(
  deps: HttpDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  input: OutboundOrderInput & { readonly projectId: string },
) {
  const order = {
    ...input,
    media: acceptMedia(deps, input.media),
    draft: wantsDraft(request),
    traceparent: traceparentOf(request),
  };
  const sessionOf = async ({ sessionId }: AcceptedCall) => sessionId;
  return idempotentAround<AcceptedCall>(deps, { request, reply, status, sessionOf }, (store) =>
    deps.calls.accept(order, store),
  );
}
