import { withTimeout } from '../../base/async/withTimeout.ts';
import { CallwayError, unavailable } from '../../base/errors.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { MakeId } from '../../base/values/ids.ts';
import type { HistoryEvent } from '../../engine/session/session.ts';
import type { AgentControl } from '../../media/agentStream/streamClient.ts';
import type { MediaSession } from '../../media/mediaSession.ts';
import type { SupervisorChange } from '../../media/supervision/supervisorStream.ts';
import { type Call, type Supervision, UNSUPERVISED } from '../call.ts';
import type {
  CallAnswer,
  CallRequestTypes,
  SupervisorControl,
  SupervisorRequest,
} from '../nodes/callRequest.ts';
import type { CallParticipants } from '../participants/callParticipants.ts';
import type { CallState } from './callMachine.ts';
import type { CallStreams } from './callStreams.ts';
import type { CallWriter } from './callWriter.ts';

/** The change is shown by the next request, unless the database takes longer. */
const STORED_TIMEOUT_MS = 1000;
/** The most texts that wait to be said: an agent keeps no more. */
const MAX_KEPT_WORDS = 20;
/** The most texts of one kind; earlier instructions were stored long ago. */
const MAX_KEPT_TEXTS = 100;
/** About a sentence. */
const SAY_RETRY_AFTER_SECONDS = 3;

export interface SupervisedCallDeps {
  readonly call: Call;
  /** Returns the answered call's media session. @throws {CallwayError} 409 `call_not_in_progress`. */
  readonly media: () => MediaSession;
  readonly state: () => CallState;
  readonly participants: CallParticipants;
  readonly writer: CallWriter;
  readonly streams: CallStreams;
  /** A supervisor speaks in the agent's place from now on, or no longer. */
  readonly onTakeover: (isTakenOver: boolean) => void;
  readonly clock: Clock;
  readonly makeId: MakeId;
  readonly onError: (error: unknown, what: string) => void;
}

/** The actions of supervisors in the history. Other controls of the agent have their own kind. */
export const SUPERVISION_ACTIONS = ['joined', 'left', 'pause_agent', 'resume_agent'] as const;
type SupervisionAction = (typeof SUPERVISION_ACTIONS)[number] | SupervisorControl['kind'];

/** The actions on a recording in the history. */
export const RECORDING_ACTIONS = ['pause', 'resume'] as const;
type RecordingAction = (typeof RECORDING_ACTIONS)[number];

/**
 * Handles supervision of a call that this node runs: a supervisor's requests, in their order, and what they ask of the
 * agent, which an agent that replaces another one is told again.
 */
export class SupervisedCall {
  readonly #deps: SupervisedCallDeps;
  #state: Supervision = UNSUPERVISED;
  #controls: readonly AgentControl[] = [];
  #textCount = 0;
  /** Requests take effect in their order. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(deps: SupervisedCallDeps) {
    this.#deps = deps;
  }

  /** What an agent that takes over is told: the last pause and takeover, instructions, and words that were not begun. */
  get agentControls(): readonly AgentControl[] {
    return this.#controls;
  }

  /** The stream was opened. @param told - The controls that the agent was told with it; those since then are told now. */
  tellSince(told: readonly AgentControl[]): void {
    for (const control of this.#controls) if (!told.includes(control)) this.#tell(control);
  }

  /** The agent has begun the words with this number, or will not say them. */
  onSaid(number: number): void {
    this.#controls = this.#controls.filter((kept) => kept.kind !== 'say' || kept.number !== number);
  }

  /** A supervisor has connected, or left. */
  onSupervisor({ mode, status }: SupervisorChange): void {
    if (mode === 'takeover') {
      const isTakenOver = status === 'joined';
      this.#controls = this.#controls.filter(({ kind }) => kind !== 'say');
      this.#keepAndTell({ kind: 'takeover', isTakenOver });
      this.#deps.onTakeover(isTakenOver);
    }
    const supervisors = this.#state.supervisors + (status === 'joined' ? 1 : -1);
    void this.#note({ supervisors }, 'supervision', { action: status, mode });
  }

  /** @throws {CallwayError} As the method that carries the request out. */
  async perform(request: SupervisorRequest): Promise<CallAnswer> {
    switch (request.name) {
      case 'supervise':
        return await this.#admit(request.argument);
      case 'control_agent':
        return await this.#controlAgent(request.argument);
      case 'pause_recording':
        return await this.#pauseRecording(request.argument.isPaused);
    }
  }

  /**
   * Lets a supervisor connect.
   *
   * @returns The address for their WebSocket.
   * @throws {CallwayError} 404 `participant_not_found`; 409 `call_not_in_progress`, `no_human_party`, `agent_not_in_call`,
   *   `call_taken_over`, `too_many_supervisors`.
   */
  #admit({ mode, participantId }: CallRequestTypes['supervise'][0]): Promise<string> {
    return this.#inOrder(async (media) => {
      const { call, streams, makeId } = this.#deps;
      if (mode === 'takeover') this.#requireAgent(false);
      const request = { supervisorId: makeId(), callId: call.id, mode };
      const listener = mode === 'whisper' ? this.#listenerTo(participantId) : undefined;
      return await streams.supervisorUrl(await media.admitSupervisor(request, listener));
    });
  }

  /**
   * Passes on what a supervisor asks of the agent.
   *
   * @throws {CallwayError} 409 `call_not_in_progress`, `agent_not_in_call`; for words to say also 429 `say_queue_full`, and
   *   503 `engine_unavailable` while no agent is connected.
   */
  #controlAgent(control: SupervisorControl): Promise<Supervision> {
    return this.#inOrder(async (media) => {
      if (control.kind === 'pause') return await this.#pauseAgent(media, control.isPaused);
      this.#requireAgent(true);
      if (control.kind === 'say') this.#requireRoomToSay();
      this.#keepAndTell(control);
      const { kind, ...data } = control;
      return await this.#note({}, 'supervision', { action: kind, ...data });
    });
  }

  /** @throws {CallwayError} 409 `call_not_in_progress`, `call_not_recorded`. */
  #pauseRecording(isPaused: boolean): Promise<Supervision> {
    return this.#inOrder(async (media) => {
      if (!this.#deps.call.settings.record)
        throw new CallwayError('conflict', 'call_not_recorded', 'The call is not recorded');
      if (this.#state.recordingPaused === isPaused) return this.#state;
      await media.pauseRecording(isPaused);
      const action = isPaused ? 'pause' : 'resume';
      return await this.#note({ recordingPaused: isPaused }, 'recording', { action });
    });
  }

  #inOrder<Answer>(perform: (media: MediaSession) => Promise<Answer>): Promise<Answer> {
    const performed = this.#last.then(() => perform(this.#deps.media()));
    this.#last = performed.catch(() => undefined);
    return performed;
  }

  /** @returns The only listener of a whisper; undefined for all people but the caller. */
  #listenerTo(participantId: string | undefined): MediaSession | undefined {
    const { state, participants } = this.#deps;
    if (participantId === undefined) {
      if (state().transfer === 'bridged' || participants.hasJoined) return undefined;
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
    await media.muteAgent(isPaused);
    this.#keepAndTell({ kind: 'pause', isPaused });
    const action = isPaused ? 'pause_agent' : 'resume_agent';
    return await this.#note({ agentPaused: isPaused }, 'supervision', { action });
  }

  #requireRoomToSay(): void {
    const { phase, hasAgentLeft } = this.#deps.state();
    if (phase !== 'connected' || hasAgentLeft) throw unavailable('engine');
    if (this.#controls.filter(({ kind }) => kind === 'say').length < MAX_KEPT_WORDS) return;
    const message = `${MAX_KEPT_WORDS} texts wait to be said in this call; try again when the agent has said some`;
    throw new CallwayError('rate_limited', 'say_queue_full', message, {
      retryAfterSeconds: SAY_RETRY_AFTER_SECONDS,
    });
  }

  /** Texts are numbered and add up; another control replaces the one of its kind. */
  #keepAndTell(control: AgentControl): void {
    const alike = this.#controls.filter(({ kind }) => kind === control.kind);
    const isText = 'text' in control;
    const dropped = isText ? alike.slice(0, 1 - MAX_KEPT_TEXTS) : alike;
    const told = isText ? { ...control, number: ++this.#textCount } : control;
    this.#controls = [...this.#controls.filter((kept) => !dropped.includes(kept)), told];
    this.#tell(told);
  }

  /** A stream that is being opened is told by {@link tellSince}, and the next one with its opening. */
  #tell(control: AgentControl): void {
    const { state, media, onError } = this.#deps;
    if (state().phase !== 'connected') return;
    media()
      .tellAgent(control)
      .catch((error: unknown) => onError(error, 'control of a supervisor not passed on'));
  }

  /** @param isOurs - True when only the project's agent is acceptable, not its own bot. */
  #requireAgent(isOurs: boolean): void {
    const { call, state } = this.#deps;
    if (state().transfer === 'bridged') {
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
    const { writer, clock } = this.#deps;
    const supervision = { ...this.#state, ...change };
    this.#state = supervision;
    const at = new Date(clock.now()).toISOString();
    await withTimeout(clock, writer.update({ supervision }, { type, at, data }), STORED_TIMEOUT_MS);
    return supervision;
  }
}
