import { withTimeout } from '../../base/async/withTimeout.ts';
import { CallwayError } from '../../base/errors.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { MakeId } from '../../base/values/ids.ts';
import type { HistoryEvent } from '../../engine/session/session.ts';
import type { MediaSession } from '../../media/mediaSession.ts';
import type { SupervisorAddress, SupervisorChange } from '../../media/supervision/supervisorStream.ts';
import { type Call, type CallChange, type Supervision, UNSUPERVISED } from '../call.ts';
import type { CallAnswer, CallRequest, CallRequestTypes, ReadingName } from '../nodes/callRequest.ts';
import type { CallParticipants, ParticipantRequest } from '../participants/callParticipants.ts';

/** The change is shown by the next request, unless the database takes longer. */
const STORED_TIMEOUT_MS = 1000;

export interface SupervisedCallDeps {
  readonly call: Pick<Call, 'id' | 'settings'>;
  /** Returns the answered call's media session; undefined before the answer. */
  readonly media: () => MediaSession | undefined;
  /** Returns true while the caller talks to a person instead of the agent. */
  readonly isBridged: () => boolean;
  readonly participants: CallParticipants;
  readonly store: (change: CallChange, event: HistoryEvent) => Promise<unknown>;
  /** Returns the URL at which other nodes reach a supervisor's place on this one. */
  readonly supervisorUrl: (address: SupervisorAddress) => Promise<string>;
  /** A supervisor speaks in the agent's place from now on, or no longer. */
  readonly onTakeover: (isTakenOver: boolean) => void;
  readonly clock: Clock;
  readonly makeId: MakeId;
}

export type SupervisionRequest = Exclude<
  CallRequest,
  ParticipantRequest | { name: ReadingName | 'transfer' }
>;

/** The actions of supervisors in the history. */
export const SUPERVISION_ACTIONS = [
  'joined',
  'left',
  'say',
  'instruct',
  'pause_agent',
  'resume_agent',
] as const;
type SupervisionAction = (typeof SUPERVISION_ACTIONS)[number];

/** The actions on a recording in the history. */
export const RECORDING_ACTIONS = ['pause', 'resume'] as const;
type RecordingAction = (typeof RECORDING_ACTIONS)[number];

/** Handles supervision of a call that this node runs. */
export class SupervisedCall {
  readonly #deps: SupervisedCallDeps;
  #state: Supervision = UNSUPERVISED;
  /** Requests take effect in their order. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(deps: SupervisedCallDeps) {
    this.#deps = deps;
  }

  /**
   * Performs a supervisor's request on the answered call.
   *
   * @throws {CallwayError} 404 `participant_not_found`; 409 `call_not_in_progress`, `no_human_party`, `agent_not_in_call`,
   *   `call_taken_over`, `too_many_supervisors`, `call_not_recorded`; 429 `say_queue_full`; 503 `engine_unavailable`.
   */
  perform(request: SupervisionRequest): Promise<CallAnswer> {
    const performed = this.#last.then(() => this.#perform(request));
    this.#last = performed.catch(() => undefined);
    return performed;
  }

  /** A supervisor has connected, or left. */
  onSupervisor({ mode, status }: SupervisorChange): void {
    if (mode === 'takeover') this.#deps.onTakeover(status === 'joined');
    const supervisors = this.#state.supervisors + (status === 'joined' ? 1 : -1);
    void this.#note({ supervisors }, 'supervision', { action: status, mode });
  }

  async #perform(request: SupervisionRequest): Promise<CallAnswer> {
    const media = this.#deps.media();
    if (!media) throw new CallwayError('conflict', 'call_not_in_progress', 'The call is not in progress');
    const { name, argument } = request;
    switch (name) {
      case 'supervise':
        return await this.#admit(media, argument);
      case 'say':
      case 'instruct':
        this.#requireAgent(true);
        await media.controlAgent({ kind: name, ...argument });
        return await this.#note({}, 'supervision', { action: name, ...argument });
      case 'pause_agent':
        return await this.#pauseAgent(media, argument.isPaused);
      case 'pause_recording':
        return await this.#pauseRecording(media, argument.isPaused);
    }
  }

  async #admit(
    media: MediaSession,
    { mode, participantId }: CallRequestTypes['supervise'][0],
  ): Promise<string> {
    const { call, supervisorUrl, makeId } = this.#deps;
    if (mode === 'takeover') this.#requireAgent(false);
    const request = { supervisorId: makeId(), callId: call.id, mode };
    const listener = mode === 'whisper' ? this.#listenerTo(participantId) : undefined;
    return await supervisorUrl(await media.admitSupervisor(request, listener));
  }

  /** @returns The only listener of a whisper; undefined for all people but the caller. */
  #listenerTo(participantId: string | undefined): MediaSession | undefined {
    const { isBridged, participants } = this.#deps;
    if (participantId === undefined) {
      if (isBridged() || participants.hasJoined) return undefined;
    } else {
      const media = participants.mediaOf(participantId);
      if (media) return media;
    }
    const message =
      'Only a person beside the caller can be whispered to, and none has joined, by transfer or as a participant';
    throw new CallwayError('conflict', 'no_human_party', message);
  }

  async #pauseAgent(media: MediaSession, isPaused: boolean): Promise<Supervision> {
    if (this.#state.agentPaused === isPaused) return this.#state;
    if (isPaused) this.#requireAgent(false);
    await media.controlAgent({ kind: 'pause', isPaused });
    const action = isPaused ? 'pause_agent' : 'resume_agent';
    return await this.#note({ agentPaused: isPaused }, 'supervision', { action });
  }

  async #pauseRecording(media: MediaSession, isPaused: boolean): Promise<Supervision> {
    if (!this.#deps.call.settings.record)
      throw new CallwayError('conflict', 'call_not_recorded', 'The call is not recorded');
    if (this.#state.recordingPaused === isPaused) return this.#state;
    await media.pauseRecording(isPaused);
    const action = isPaused ? 'pause' : 'resume';
    return await this.#note({ recordingPaused: isPaused }, 'recording', { action });
  }

  /** @param isOurs - True when only the project's agent is acceptable, not its own bot. */
  #requireAgent(isOurs: boolean): void {
    const { call, isBridged } = this.#deps;
    if (isBridged()) {
      const message = 'The agent has left the call: the caller was connected to another person';
      throw new CallwayError('conflict', 'agent_not_in_call', message);
    }
    if (isOurs && call.settings.media !== null) {
      const message = 'The call’s audio goes to a bot of the project, which the agent’s words do not reach';
      throw new CallwayError('conflict', 'agent_not_in_call', message);
    }
  }

  /** Notes what has happened, in the call and in its history. */
  async #note(
    change: Partial<Supervision>,
    type: 'supervision' | 'recording',
    data: HistoryEvent['data'] & { readonly action: SupervisionAction | RecordingAction },
  ): Promise<Supervision> {
    const { store, clock } = this.#deps;
    const supervision = { ...this.#state, ...change };
    this.#state = supervision;
    const at = new Date(clock.now()).toISOString();
    await withTimeout(clock, store({ supervision }, { type, at, data }), STORED_TIMEOUT_MS);
    return supervision;
  }
}
