import type { TransferTarget } from '../../agents/transferTarget.ts';
import type { Failure } from '../../base/failure.ts';
import type { AgentControl } from '../../media/agentStream/streamClient.ts';
import type { MediaQuality } from '../../media/mediaQuality.ts';
import type { MediaSamples } from '../../media/mediaSamples.ts';
import type { SupervisionMode } from '../../media/supervision/supervisorStream.ts';
import type { Supervision } from '../call.ts';
import type { Participant, ParticipantChange } from '../participants/participant.ts';

/** What a supervisor asks of the agent. A takeover is asked by the supervisor's WebSocket. */
export type SupervisorControl = Exclude<AgentControl, { kind: 'takeover' }>;

/** Supervisors' requests to the node that runs a call, by name: argument and answer. */
export interface SupervisorRequestTypes {
  /** Answered by the address that the supervisor's WebSocket is passed on to. */
  readonly supervise: [
    { readonly mode: SupervisionMode; readonly participantId?: string | undefined },
    string,
  ];
  readonly control_agent: [SupervisorControl, Supervision];
  readonly pause_recording: [{ readonly isPaused: boolean }, Supervision];
}

/** All requests to the node that runs a call. */
export interface CallRequestTypes extends SupervisorRequestTypes {
  readonly read_quality: [undefined, MediaQuality | null];
  readonly read_media_samples: [undefined, MediaSamples];
  /** @property options - The options as the API accepts them. */
  readonly transfer: [
    { readonly to: string; readonly options?: Readonly<Record<string, unknown>> | undefined },
    null,
  ];
  readonly add_participant: [TransferTarget, Participant];
  readonly list_participants: [undefined, readonly Participant[]];
  readonly change_participant: [ParticipantChange & { readonly id: string }, Participant];
  readonly remove_participant: [{ readonly id: string }, null];
}

export type CallRequestName = keyof CallRequestTypes;

export type CallRequest<Names extends CallRequestName = CallRequestName> = {
  [Name in Names]: { readonly name: Name; readonly argument: CallRequestTypes[Name][0] };
}[Names];

export type SupervisorRequest = CallRequest<keyof SupervisorRequestTypes>;

/** Figures, which are shown without where no node answers. */
export type ReadingName = 'read_quality' | 'read_media_samples';

export type CallAnswer = CallRequestTypes[CallRequestName][1];

/** An answer, or why there is none. Errors cross nodes as they cross threads. */
export type CallResponse = { readonly answer: unknown } | { readonly failure: Failure };
