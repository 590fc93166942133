import { z } from 'zod';

import { transferTrunkId } from '../../../agents/transferTarget.ts';
import {
  MAX_PARTICIPANTS,
  type Participant,
  participantResource,
} from '../../../calls/participants/participant.ts';
import { audit } from '../../audit.ts';
import { idempotentAround } from '../../idempotency.ts';
import type { App, HttpDeps } from '../../ports.ts';
import { about, errors, listOf, listResponse, noContent } from '../../schemas.ts';
import { CALL_PATH, callParams, sessionOfCall } from './calls.ts';

const PATH = `${CALL_PATH}/participants`;
const SUPERVISE = { access: { kind: 'project', scope: 'supervise' } } as const;
const participantParams = callParams.extend({ participantId: z.string() });

const newParticipant = z
  .strictObject({
    to: z
      .string()
      .max(255)
      .describe('A number in E.164 or in Taiwan’s local form, or a `sip:` URI.')
      .meta({ example: '+886223456789' }),
    trunkId: transferTrunkId.optional(),
  })
  .meta({ id: 'NewParticipant' });

const participantPatch = z
  .strictObject({
    muted: z.boolean().optional().describe('They are not heard.'),
    held: z.boolean().optional().describe('They hear music, and are not heard.'),
  })
  .meta({ id: 'ParticipantPatch' });

const NOT_IN_PROGRESS = '409 `call_not_in_progress` unless the call is in progress.';

/** The people who are added to a call in progress. */
export function participantRoutes(app: App, deps: HttpDeps): void {
  addRoute(app, deps);
  listRoute(app, deps);
  changeRoute(app, deps);
  removeRoute(app, deps);
}

function addRoute(app: App, deps: HttpDeps): void {
  app.post(
    PATH,
    {
      config: SUPERVISE,
      schema: {
        ...about(
          'Calls',
          'Add a person to a call',
          `Dials them over the trunks of the call's number, which they see, within the call's ring timeout and the project's limits: 422 \`destination_not_allowed\`, or \`do_not_call\` for a listed number. From their answer on, each person in the call hears all others, and the agent hears all of them. The recording has the caller left and all others right. They leave with the caller. The events \`participant.joined\` and \`participant.left\`, and the history's \`participant\`, tell how it went. At most ${MAX_PARTICIPANTS} at a time, 409 \`too_many_participants\`. ${NOT_IN_PROGRESS}`,
        ),
        params: callParams,
        body: newParticipant,
        response: { 201: participantResource, ...errors('body', 409, 422) },
      },
    },
    (request, reply) => {
      const { projectId, callId } = request.params;
      const sessionOf = sessionOfCall(request.params);
      return idempotentAround<Participant>(
        deps,
        { request, reply, status: 201, sessionOf },
        async (store) => {
          const participant = await deps.calls.control.addParticipant(projectId, callId, request.body);
          return await store(async (stores) => {
            const to = deps.sessions.customers.hashOf({ projectId, key: participant.to });
            const details = { participantId: participant.id, to };
            await audit(deps, stores, request, {
              action: 'call.participant_added',
              projectId,
              target: callId,
              details,
            });
            return participant;
          });
        },
      );
    },
  );
}

function listRoute(app: App, deps: HttpDeps): void {
  app.get(
    PATH,
    {
      config: SUPERVISE,
      schema: {
        ...about(
          'Calls',
          'List the participants of a call',
          `The people who were added to it and have not left. ${NOT_IN_PROGRESS}`,
        ),
        params: callParams,
        response: { 200: listOf(participantResource), ...errors(409) },
      },
    },
    async ({ params: { projectId, callId } }) => {
      const items = [...(await deps.calls.control.ask(projectId, callId, 'list_participants', undefined))];
      const page = { items, total: items.length, nextCursor: null };
      return listResponse(page, { limit: MAX_PARTICIPANTS, offset: 0 });
    },
  );
}

function changeRoute(app: App, deps: HttpDeps): void {
  app.patch(
    `${PATH}/:participantId`,
    {
      config: SUPERVISE,
      schema: {
        ...about(
          'Calls',
          'Mute or hold a participant',
          `What is not given stays as it is. ${NOT_IN_PROGRESS}`,
        ),
        params: participantParams,
        body: participantPatch,
        response: { 200: participantResource, ...errors('body', 409) },
      },
    },
    async (request) => {
      const { projectId, callId, participantId: id } = request.params;
      const change = { id, ...request.body };
      const participant = await deps.calls.control.ask(projectId, callId, 'change_participant', change);
      await audit(deps, deps.storage.stores, request, {
        action: 'call.participant_changed',
        projectId,
        target: callId,
        details: { participantId: id, ...request.body },
      });
      return participant;
    },
  );
}

function removeRoute(app: App, deps: HttpDeps): void {
  app.delete(
    `${PATH}/:participantId`,
    {
      config: SUPERVISE,
      schema: {
        ...about(
          'Calls',
          'Remove a participant',
          `Hangs up, also while their phone rings. ${NOT_IN_PROGRESS}`,
        ),
        params: participantParams,
        response: { 204: noContent, ...errors(409) },
      },
    },
    async (request, reply) => {
      const { projectId, callId, participantId: id } = request.params;
      await deps.calls.control.ask(projectId, callId, 'remove_participant', { id });
      await audit(deps, deps.storage.stores, request, {
        action: 'call.participant_removed',
        projectId,
        target: callId,
        details: { participantId: id },
      });
      return await reply.code(204).send(null);
    },
  );
}
