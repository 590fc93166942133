import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';

import {
  type AcceptedCall,
  acceptedCall,
  type OutboundOrder,
  outboundCallFields,
} from '../../../calls/setup/acceptCall.ts';
import { agentVersionHeaders, wantsDraft } from '../../agentVersion.ts';
import type { App } from '../../app.ts';
import { createOnceAround } from '../../idempotency.ts';
import { requireProject } from '../../plugins/accessControl.ts';
import type { HttpDeps } from '../../ports.ts';
import { about, errors, projectParams } from '../../schemas.ts';
import { traceparentOf } from '../../trace.ts';
import { requireReachable } from './mediaTarget.ts';

const V1 = '/v1/calls/outbound';
const LEGACY = '/project/:projectId/integration/phone/call/outbound';

/** Programs that were written for the legacy path may send more than is read. */
const legacyBody = z.object(outboundCallFields).meta({ id: 'LegacyOutboundCall' });
const v1Body = z
  .strictObject({
    projectId: z.uuid().describe('The project of the key.'),
    ...outboundCallFields,
  })
  .meta({ id: 'OutboundCall' });

const description = `One call per project and number is queued or live at a time; the second is 409 \`number_already_queued\`.
403 \`destination_not_allowed\` and 429 \`call_rate_exceeded\`, \`call_minutes_exhausted\` or \`call_spending_exhausted\` are limits of the project.
404 names what is missing: \`from_number_not_configured\`, \`from_number_inactive\` or \`no_active_trunk\`.`;

/** One way to accept a call, on two paths: the older one has its project in the path, the other in the body. */
export function outboundCallRoutes(app: App, deps: HttpDeps): void {
  const accept = (
    request: FastifyRequest,
    reply: FastifyReply,
    status: number,
    order: Omit<OutboundOrder, 'draft'>,
  ) => {
    requireReachable(order.media, deps.egressPolicy);
    return createOnceAround<AcceptedCall>(deps, request, reply, { status }, (keep) =>
      deps.calls.accept({ ...order, draft: wantsDraft(request), traceparent: traceparentOf(request) }, keep),
    );
  };

  app.post(
    V1,
    {
      config: { access: { kind: 'key', scope: 'calls' } },
      schema: {
        ...about('Calls', 'Place a call', description),
        headers: agentVersionHeaders,
        body: v1Body,
        response: { 202: acceptedCall, ...errors('body', 409) },
      },
      // Before the body is judged: a stranger learns nothing of it.
      preValidation: (request, _reply, done) => {
        const { projectId } = (request.body ?? {}) as { projectId?: unknown };
        if (typeof projectId === 'string') requireProject(request, projectId);
        done();
      },
    },
    (request, reply) => accept(request, reply, 202, request.body),
  );

  app.post(
    LEGACY,
    {
      config: { access: { kind: 'legacy', scope: 'calls' }, successor: V1 },
      schema: {
        ...about('Calls', 'Place a call', description),
        deprecated: true,
        params: projectParams,
        headers: agentVersionHeaders,
        body: legacyBody,
        response: { 200: acceptedCall, ...errors('body', 409) },
      },
    },
    (request, reply) => accept(request, reply, 200, { ...request.body, projectId: request.params.projectId }),
  );
}
