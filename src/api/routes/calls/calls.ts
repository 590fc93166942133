import { z } from 'zod';

import { notFound } from '../../../base/errors.ts';
import { CALL_STATUSES, type Call } from '../../../calls/call.ts';
import { type CallResource, callResource, toCallResource } from '../../../calls/callResource.ts';
import type { App } from '../../app.ts';
import type { HttpDeps } from '../../ports.ts';
import { sessionIdField } from '../../requestHeaders.ts';
import { about, errors, listAnswer, listOf, pageQuery, projectParams } from '../../schemas.ts';

const BASE = '/v1/projects/:projectId/calls';
const callParams = projectParams.extend({ callId: z.string() });
const read = { access: { kind: 'project', scope: 'read' } } as const;
const control = { access: { kind: 'project', scope: 'calls' } } as const;

const sipTrace = z.object({
  messages: z.array(
    z.object({
      at: z.iso.datetime(),
      direction: z.enum(['in', 'out']),
      transport: z.string().meta({ example: 'udp' }),
      remote: z.string().meta({ example: '192.0.2.10:5060' }),
      text: z.string().describe('As on the wire, credentials blanked.'),
    }),
  ),
});

const transferInput = z
  .strictObject({
    to: z
      .string()
      .max(255)
      .describe('A number in E.164 or in Taiwan’s local form, or a `sip:` URI.')
      .meta({ example: '+886223456789' }),
  })
  .meta({ id: 'CallTransfer' });

export function callRoutes(app: App, deps: HttpDeps): void {
  registerReads(app, deps);
  registerControl(app, deps);
}

/** Calls as the API shows them, with what their sessions tell of them. */
export async function showCalls(
  { storage, calls: { recordings } }: Pick<HttpDeps, 'storage' | 'calls'>,
  calls: readonly Call[],
): Promise<CallResource[]> {
  const latencies = await storage.stores.calls.turnLatencies(calls.map(({ instanceId }) => instanceId));
  return calls.map((call) => toCallResource(call, latencies.get(call.instanceId), recordings));
}

function registerReads(app: App, deps: HttpDeps): void {
  const { calls, sipTraces } = deps.storage.stores;

  app.get(
    BASE,
    {
      config: read,
      schema: {
        ...about('Calls', 'List the calls', 'The latest first; as long as the project keeps its history.'),
        params: projectParams,
        querystring: pageQuery.extend({
          direction: z.enum(['outbound', 'inbound']).optional(),
          status: z.enum(CALL_STATUSES).optional(),
          sessionId: sessionIdField.optional(),
        }),
        response: { 200: listOf(callResource), ...errors() },
      },
    },
    async ({ params, query }) => {
      const { direction, status, sessionId } = query;
      const filter = {
        ...(direction ? { direction } : {}),
        ...(status ? { status } : {}),
        ...(sessionId === undefined ? {} : { sessionId }),
      };
      const { items, total } = await calls.list(params.projectId, filter, query);
      return listAnswer({ items: await showCalls(deps, items), total }, query);
    },
  );

  app.get(
    `${BASE}/:callId`,
    {
      config: read,
      schema: {
        ...about('Calls', 'Get a call', 'How it stands or ended, and how its audio and its turns did.'),
        params: callParams,
        response: { 200: callResource, ...errors() },
      },
    },
    async ({ params }) => {
      const call = await calls.find(params.projectId, params.callId);
      return await shown(deps, call);
    },
  );

  app.get(
    `${BASE}/:callId/sip-trace`,
    {
      config: read,
      schema: {
        ...about(
          'Calls',
          'Get a call’s SIP messages',
          'In order. With drachtio-server: what that server shows its application.',
        ),
        params: callParams,
        response: { 200: sipTrace, ...errors() },
      },
    },
    async ({ params }) => {
      const { projectId, callId } = params;
      if (!(await calls.find(projectId, callId))) throw notFound('Call');
      return { messages: await sipTraces.list(projectId, callId) };
    },
  );
}

function registerControl(app: App, deps: HttpDeps): void {
  app.post(
    `${BASE}/:callId/hangup`,
    {
      config: control,
      schema: {
        ...about(
          'Calls',
          'Hang up a call',
          'One that waits in the queue is canceled at once; a live one ends shortly; one that is over stays as it is.',
        ),
        params: callParams,
        response: { 200: callResource, ...errors('body') },
      },
    },
    async ({ params }) => await shown(deps, await deps.calls.hangUp(params.projectId, params.callId)),
  );

  app.post(
    `${BASE}/:callId/transfer`,
    {
      config: control,
      schema: {
        ...about(
          'Calls',
          'Transfer a call',
          'Asks for it, as the agent’s own transfers do: by REFER where the peer takes it, else by a second call over the number’s trunks, which shows the number and is joined with this one (`transfer` of the trunk chooses). The caller hears it ring meanwhile. The call ends as `transferred` when either side leaves; where it fails the caller is the agent’s again. The history’s `transfer` events tell. Only a call in progress: else 409; and only where the project may call: else 403.',
        ),
        params: callParams,
        body: transferInput,
        response: { 202: callResource, ...errors('body', 409) },
      },
    },
    async ({ params, body }, reply) => {
      reply.code(202);
      return await shown(deps, await deps.calls.transfer(params.projectId, params.callId, body.to));
    },
  );
}

async function shown(deps: HttpDeps, call: Call | undefined): Promise<CallResource> {
  const [one] = call ? await showCalls(deps, [call]) : [];
  if (!one) throw notFound('Call');
  return one;
}
