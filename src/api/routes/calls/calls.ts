import { z } from 'zod';

import { MAX_TRANSFER_TARGETS, transferOptions } from '../../../agents/transferOptions.ts';
import { targetWithTrunk } from '../../../agents/transferTarget.ts';
import { notFound } from '../../../base/errors.ts';
import type { Call } from '../../../calls/call.ts';
import { type CallResource, callResource, toCallResource } from '../../../calls/callResource.ts';
import type { App, HttpDeps, Stores } from '../../ports.ts';
import { about, errors, projectParams } from '../../schemas.ts';

export const CALLS_PATH = '/v1/projects/:projectId/calls';
export const CALL_PATH = `${CALLS_PATH}/:callId`;
export const callParams = projectParams.extend({ callId: z.string() });
const READ = { access: { kind: 'project', scope: 'read' } } as const;
const CONTROL = { access: { kind: 'project', scope: 'calls' } } as const;

const sipTrace = z.object({
  messages: z.array(
    z.object({
      at: z.iso.datetime(),
      direction: z.enum(['in', 'out']),
      transport: z.string().meta({ example: 'udp' }),
      remote: z.string().meta({ example: '192.0.2.10:5060' }),
      text: z.string().describe('As on the wire, without credentials.'),
    }),
  ),
});

const target = targetWithTrunk(z.string().max(255))
  .describe(
    'A number in E.164 or in Taiwan’s local form, or a `sip:` URI, whose host is called where `callLimits.allowedSipDomains` has it; also with the trunk that calls it.',
  )
  .meta({ example: '+886223456789' });
const transferInput = transferOptions
  .extend({
    to: target.optional(),
    targets: z
      .array(target)
      .min(1)
      .max(MAX_TRANSFER_TARGETS)
      .optional()
      .describe('Several, in place of `to`: in this order, or at once by `strategy`.'),
  })
  .meta({
    id: 'CallTransfer',
    examples: [
      { to: '+886223456789' },
      { to: '+886223456789', mode: 'warm', acceptBy: 'digit', announce: '{{ summary }}' },
    ],
  });

export function callRoutes(app: App, deps: HttpDeps): void {
  callRoute(app, deps);
  sipTraceRoute(app, deps);
  hangUpRoute(app, deps);
  transferRoute(app, deps);
}

/** Calls of a project as the API shows them, with the turn latencies, costs and analyses of their sessions. */
export async function showCalls(
  { storage: { stores }, audio: { recordings } }: HttpDeps,
  calls: readonly Call[],
): Promise<CallResource[]> {
  const [first] = calls;
  if (!first) return [];
  const instanceIds = calls.map(({ instanceId }) => instanceId);
  const callIds = calls.map(({ id }) => id);
  const [latencies, spendings, analyses] = await Promise.all([
    stores.calls.turnLatencies(instanceIds),
    stores.history.spendings(instanceIds),
    stores.history.analyses(first.projectId, callIds),
  ]);
  return calls.map((call) => {
    const { id, instanceId } = call;
    const found = [latencies.get(instanceId), spendings.get(instanceId), analyses.get(id)] as const;
    return toCallResource(call, ...found, recordings.urls);
  });
}

function callRoute(app: App, deps: HttpDeps): void {
  app.get(
    CALL_PATH,
    {
      config: READ,
      schema: {
        ...about('Calls', 'Get a call', 'Its status or outcome, its audio quality and its turn latencies.'),
        params: callParams,
        response: { 200: callResource, ...errors() },
      },
    },
    async ({ params }) => {
      const call = await deps.storage.stores.calls.find(params.projectId, params.callId);
      return await showCall(deps, call && { ...call, mediaQuality: await deps.calls.control.quality(call) });
    },
  );
}

function sipTraceRoute(app: App, { storage: { stores } }: HttpDeps): void {
  app.get(
    `${CALL_PATH}/sip-trace`,
    {
      config: READ,
      schema: {
        ...about(
          'Calls',
          'Get a call’s SIP messages',
          'In order. With drachtio-server: the messages that it reports to its application.',
        ),
        params: callParams,
        response: { 200: sipTrace, ...errors() },
      },
    },
    async ({ params }) => {
      const { projectId, callId } = params;
      if (!(await stores.calls.find(projectId, callId))) throw notFound('Call');
      return { messages: await stores.sipTraces.list(projectId, callId) };
    },
  );
}

function hangUpRoute(app: App, deps: HttpDeps): void {
  app.post(
    `${CALL_PATH}/hangup`,
    {
      config: CONTROL,
      schema: {
        ...about(
          'Calls',
          'Hang up a call',
          'A scheduled or queued call is canceled at once; a live call ends shortly after; a call that has ended does not change.',
        ),
        params: callParams,
        response: { 200: callResource, ...errors('body') },
      },
    },
    async ({ params }) =>
      await showCall(deps, await deps.calls.control.hangUp(params.projectId, params.callId)),
  );
}

function transferRoute(app: App, deps: HttpDeps): void {
  app.post(
    `${CALL_PATH}/transfer`,
    {
      config: CONTROL,
      schema: {
        ...about(
          'Calls',
          'Transfer a call',
          'Starts a transfer, like the agent’s own. `blind` calls the target over the number’s trunks and joins it with the caller, who hears ringing meanwhile. `warm` tells the target first who is calling and why, and joins them when it accepts; the caller hears music. `refer` has the caller’s side call the target. The call ends as `transferred` when either side hangs up. If no target takes the call, the agent continues with the caller. The call’s `transfer` and the `transfer` events of the history tell how it goes. 409 unless the call is in progress; 422 if the project may not call a destination, or it is none of the agent’s `transferTargets`; 400 `unknown_trunk` for a `trunkId` of no trunk of the project.',
        ),
        params: callParams,
        body: transferInput,
        response: { 202: callResource, ...errors('body', 409, 422) },
      },
    },
    async ({ params, body }, reply) => {
      reply.code(202);
      return await showCall(deps, await deps.calls.control.transfer(params.projectId, params.callId, body));
    },
  );
}

/** Returns the session of a call, for {@link IdempotentRequest}. */
export function sessionOfCall({ projectId, callId }: z.output<typeof callParams>) {
  return async (_body: unknown, { calls }: Stores): Promise<string | undefined> =>
    (await calls.find(projectId, callId))?.sessionId;
}

/** @throws {CallwayError} 404 `call_not_found` */
export async function showCall(deps: HttpDeps, call: Call | undefined): Promise<CallResource> {
  const [one] = call ? await showCalls(deps, [call]) : [];
  if (!one) throw notFound('Call');
  return one;
}
