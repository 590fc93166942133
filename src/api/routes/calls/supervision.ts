import type { FastifyRequest } from 'fastify';
import { z } from 'zod';

import { text } from '../../../agents/pathway/schema/fields.ts';
import { unavailable } from '../../../base/errors.ts';
import { callResource } from '../../../calls/callResource.ts';
import type { SupervisorRequestTypes } from '../../../calls/nodes/callRequest.ts';
import { SUPERVISION_MODES } from '../../../media/supervision/supervisorStream.ts';
import { audit } from '../../audit.ts';
import { idempotentAround } from '../../idempotency.ts';
import type { App, HttpDeps } from '../../ports.ts';
import { about, errors } from '../../schemas.ts';
import { CALL_PATH, callParams, sessionOfCall, showCall } from './calls.ts';

const SUPERVISE = { access: { kind: 'project', scope: 'supervise' } } as const;

const superviseInput = z
  .strictObject({
    mode: z
      .enum(SUPERVISION_MODES)
      .describe(
        '`listen` hears both sides. `whisper` also speaks, to the person whom the caller was transferred to and to the participants, unheard by the caller and the agent. `takeover` speaks to the caller in place of the agent, which neither speaks nor listens until the WebSocket closes.',
      ),
    participantId: z.uuid().optional().describe('For `whisper`: the participant who alone hears it.'),
  })
  .refine(({ mode, participantId }) => participantId === undefined || mode === 'whisper', {
    path: ['participantId'],
    message: 'participantId is for the mode whisper alone',
  })
  .meta({ id: 'Supervise' });

const superviseTicket = z
  .object({
    url: z
      .string()
      .nullable()
      .describe('Of a WebSocket, for one connection within 30 s. Null in a repeated response.'),
    expiresAt: z.iso.datetime(),
  })
  .meta({ id: 'SuperviseTicket' });

/** Longer than anything that is said in one breath, shorter than a speech. */
const MAX_TEXT_CHARACTERS = 2000;

const spoken = text(1, MAX_TEXT_CHARACTERS).refine((value) => /\S/.test(value), '{field} must not be blank');

const sayInput = z
  .strictObject({ text: spoken.describe('Said as it is, in the agent’s voice. Templates are not filled.') })
  .meta({ id: 'CallSay' });

const instructInput = z
  .strictObject({
    text: spoken.describe('For the model from its next turn on; not said. Templates are not filled.'),
  })
  .meta({ id: 'CallInstruct' });

const recordingInput = z
  .strictObject({ action: z.enum(['pause', 'resume']) })
  .meta({ id: 'CallRecordingControl' });

/** What supervisors tell the agent in words. */
const TEXTS = [
  {
    kind: 'say',
    summary: 'Let the agent say something',
    description:
      "The agent says the text at the next pause of the conversation, also while it is paused itself; the history has it among the agent's words. At most 20 texts wait, then 429 `say_queue_full`.",
    body: sayInput,
    action: 'call.said',
  },
  {
    kind: 'instruct',
    summary: 'Instruct the agent',
    description: "The agent's model is told the text from its next turn on.",
    body: instructInput,
    action: 'call.instructed',
  },
] as const;

/** What supervisors tell the agent without words. */
const COMMANDS = [
  {
    path: 'pause-agent',
    control: { kind: 'pause', isPaused: true },
    summary: 'Pause the agent',
    description:
      'It stops at once, and neither speaks nor answers; what the caller says is kept in the history. Nothing changes where it is so already. 409 `agent_not_in_call` once the caller was connected to another person.',
    action: 'call.agent_paused',
  },
  {
    path: 'resume-agent',
    control: { kind: 'pause', isPaused: false },
    summary: 'Resume the agent',
    description:
      'It answers what the caller said last, or waits for the caller. Nothing changes where it is so already.',
    action: 'call.agent_resumed',
  },
] as const;

/** The names of what supervisors do in the audit log. */
export const CONTROL_AUDIT_ACTIONS = [
  ...TEXTS.map(({ action }) => action),
  ...COMMANDS.map(({ action }) => action),
  'call.recording_paused',
  'call.recording_resumed',
  'call.supervised',
] as const;
type ControlAuditAction = (typeof CONTROL_AUDIT_ACTIONS)[number];

const NOT_IN_PROGRESS = '409 `call_not_in_progress` unless the call is in progress.';

/** Supervisors of calls in progress: their WebSockets, and what they ask of the agent and the recording. */
export function supervisionRoutes(app: App, deps: HttpDeps): void {
  superviseRoute(app, deps);
  textRoutes(app, deps);
  commandRoutes(app, deps);
  recordingRoute(app, deps);
}

function superviseRoute(app: App, deps: HttpDeps): void {
  app.post(
    `${CALL_PATH}/supervise`,
    {
      config: SUPERVISE,
      schema: {
        ...about(
          'Calls',
          'Supervise a call',
          `Returns the address at which one WebSocket takes part in the call. It speaks the subprotocol \`audio.callway.v1\`: the service sends \`start\` with \`mediaFormat\`, then the call's audio as binary frames in stereo, the caller left and what the caller hears right, until \`stop\`. A supervisor who speaks sends binary frames in mono at the same rate. At most five listen or whisper at a time, 409 \`too_many_supervisors\`; one takes over, 409 \`call_taken_over\`. Closing the WebSocket of a takeover gives the call back to the agent. A whisper ends when the participant who alone hears it leaves. 404 \`participant_not_found\`; 409 \`no_human_party\` before a person has joined the call, \`agent_not_in_call\` where there is no agent to replace. ${NOT_IN_PROGRESS}`,
        ),
        params: callParams,
        body: superviseInput,
        response: { 201: superviseTicket, ...errors('body', 409) },
      },
    },
    (request, reply) => {
      type Ticket = z.infer<typeof superviseTicket>;
      const withoutSecrets = (ticket: Ticket): Ticket => ({ ...ticket, url: null });
      const {
        audio: { mediaStreams },
      } = deps;
      if (!mediaStreams) throw unavailable('voice');
      const { projectId, callId } = request.params;
      const { mode, participantId } = request.body;
      return idempotentAround<Ticket>(
        deps,
        { request, reply, status: 201, withoutSecrets, sessionOf: sessionOfCall(request.params) },
        async (store) => {
          const address = await deps.calls.control.ask(projectId, callId, 'supervise', {
            mode,
            participantId,
          });
          const ticket = await mediaStreams.openRelay(address);
          return await store(async (stores) => {
            await audit(deps, stores, request, {
              action: 'call.supervised' satisfies ControlAuditAction,
              projectId,
              target: callId,
              details: { mode, participantId },
            });
            return ticket;
          });
        },
      );
    },
  );
}

function textRoutes(app: App, deps: HttpDeps): void {
  for (const { kind, summary, description, body, action } of TEXTS) {
    app.post(
      `${CALL_PATH}/${kind}`,
      {
        config: SUPERVISE,
        schema: {
          ...about(
            'Calls',
            summary,
            `${description} 409 \`agent_not_in_call\` for a call whose agent has left, or that a bot of yours answers. ${NOT_IN_PROGRESS}`,
          ),
          params: callParams,
          body,
          response: { 202: callResource, ...errors('body', 409) },
        },
      },
      async (request, reply) => {
        reply.code(202);
        return await perform(deps, request, 'control_agent', { kind, ...request.body }, action);
      },
    );
  }
}

function commandRoutes(app: App, deps: HttpDeps): void {
  for (const { path, control, summary, description, action } of COMMANDS) {
    app.post(
      `${CALL_PATH}/${path}`,
      {
        config: SUPERVISE,
        schema: {
          ...about('Calls', summary, `${description} ${NOT_IN_PROGRESS}`),
          params: callParams,
          response: { 200: callResource, ...errors('body', 409) },
        },
      },
      (request) => perform(deps, request, 'control_agent', control, action),
    );
  }
}

function recordingRoute(app: App, deps: HttpDeps): void {
  app.post(
    `${CALL_PATH}/recording`,
    {
      config: SUPERVISE,
      schema: {
        ...about(
          'Calls',
          'Pause or resume the recording',
          `While paused the recording gets silence, so that it keeps the length of the call. 409 \`call_not_recorded\` for a call without a recording. ${NOT_IN_PROGRESS}`,
        ),
        params: callParams,
        body: recordingInput,
        response: { 200: callResource, ...errors('body', 409) },
      },
    },
    (request) => {
      const { action } = request.body;
      const isPaused = action === 'pause';
      return perform(deps, request, 'pause_recording', { isPaused }, `call.recording_${action}d`);
    },
  );
}

/** @returns The call after it. */
async function perform<Name extends Exclude<keyof SupervisorRequestTypes, 'supervise'>>(
  deps: HttpDeps,
  request: FastifyRequest,
  name: Name,
  argument: SupervisorRequestTypes[Name][0],
  action: ControlAuditAction,
) {
  const { projectId, callId } = callParams.parse(request.params);
  const supervision = await deps.calls.control.ask(projectId, callId, name, argument);
  await audit(deps, deps.storage.stores, request, { action, projectId, target: callId });
  const call = await deps.storage.stores.calls.find(projectId, callId);
  return await showCall(deps, call && { ...call, supervision });
}
