import type { TransferTarget } from '../../agents/transferTarget.ts';
import { CallwayError, notFound } from '../../base/errors.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { MakeId } from '../../base/values/ids.ts';
import type { MediaSession } from '../../media/mediaSession.ts';
import type { BilledLeg, Call } from '../call.ts';
import type { CallTelemetry } from '../runner/callTelemetry.ts';
import type { CallWriter } from '../runner/callWriter.ts';
import type { CallParties } from '../transfer/callParties.ts';
import type { HoldMusicPlayer } from '../transfer/holdMusicPlayer.ts';
import {
  MAX_PARTICIPANTS,
  type Participant,
  type ParticipantAction,
  type ParticipantChange,
  type ReportedAction,
} from './participant.ts';
import { ParticipantLeg } from './participantLeg.ts';

export interface CallParticipantsDeps {
  readonly call: Call;
  /** Returns the answered call's media session. @throws {CallwayError} 409 `call_not_in_progress`. */
  readonly media: () => MediaSession;
  readonly parties: CallParties;
  readonly writer: CallWriter;
  readonly telemetry: CallTelemetry;
  readonly clock: Clock;
  readonly makeId: MakeId;
  readonly onError: (error: unknown, what: string) => void;
}

/** The people who were added to a call that this node runs. They leave with the caller at the latest. */
export class CallParticipants {
  readonly #deps: CallParticipantsDeps;
  readonly #legs = new Map<string, ParticipantLeg>();
  /** All participants that were ever added, for the bill. */
  readonly #dialed: ParticipantLeg[] = [];
  readonly #running = new Set<Promise<void>>();
  readonly #music: HoldMusicPlayer;

  constructor(deps: CallParticipantsDeps) {
    this.#deps = deps;
    this.#music = deps.parties.music();
  }

  /** Talk time so far. A leg keeps its index. */
  get billedLegs(): readonly BilledLeg[] {
    return this.#dialed.map(({ to, talkTimeMs }) => ({ to, talkTimeMs }));
  }

  /** True when at least one participant has joined the call. */
  get hasJoined(): boolean {
    return [...this.#legs.values()].some(({ joinedMedia }) => joinedMedia !== undefined);
  }

  /**
   * @returns Undefined for a participant who has not joined yet. @throws {CallwayError} 404 `participant_not_found`.
   */
  mediaOf(id: string): MediaSession | undefined {
    return this.#require(id).joinedMedia;
  }

  /** @throws {CallwayError} 409 `call_not_in_progress`. */
  list(): Participant[] {
    this.#deps.media();
    return [...this.#legs.values()].map(({ state }) => state);
  }

  /** @throws {CallwayError} 409 `call_not_in_progress`, `too_many_participants`. */
  add(target: TransferTarget): Participant {
    const media = this.#deps.media();
    if (this.#legs.size >= MAX_PARTICIPANTS) {
      const message = `The call has ${MAX_PARTICIPANTS} participants, which is the most`;
      throw new CallwayError('conflict', 'too_many_participants', message);
    }
    const { call, parties, clock, makeId, onError } = this.#deps;
    const ringTimeoutMs = call.settings.ringTimeoutSeconds * 1000;
    const leg: ParticipantLeg = new ParticipantLeg(
      {
        media,
        dial: () => parties.dial(target, { bridgeWith: media, ringTimeoutMs }),
        onJoined: () => this.#report('joined', leg.state),
        music: this.#music,
        clock,
        onError,
      },
      makeId(),
      target.to,
    );
    this.#legs.set(leg.id, leg);
    this.#dialed.push(leg);
    this.#note('dialing', leg.state);
    const running = this.#run(leg).finally(() => this.#running.delete(running));
    this.#running.add(running);
    return leg.state;
  }

  /** @throws {CallwayError} 409 `call_not_in_progress`; 404 `participant_not_found`. */
  async change({ id, ...change }: ParticipantChange & { readonly id: string }): Promise<Participant> {
    const leg = this.#require(id);
    const { muted, held } = leg.state;
    await leg.change(change);
    const { state } = leg;
    if (state.muted !== muted || state.held !== held) this.#report('changed', state);
    return state;
  }

  /** @throws {CallwayError} 409 `call_not_in_progress`; 404 `participant_not_found`. */
  remove(id: string): null {
    this.#require(id).remove('removed');
    return null;
  }

  /** Hangs up all of them. Resolves when they have left. Idempotent. */
  async close(): Promise<void> {
    for (const leg of this.#legs.values()) leg.remove('call_ended');
    await Promise.all(this.#running);
  }

  async #run(leg: ParticipantLeg): Promise<void> {
    const reason = await leg.run();
    this.#legs.delete(leg.id);
    this.#report('left', leg.state, reason);
  }

  #require(id: string): ParticipantLeg {
    this.#deps.media();
    const leg = this.#legs.get(id);
    if (!leg) throw notFound('Participant');
    return leg;
  }

  /** Reports an action to the history and to live events. */
  #report(what: ReportedAction, participant: Participant, reason?: string): void {
    this.#note(what, participant, reason);
    this.#deps.telemetry.participant(what, participant, reason);
  }

  #note(action: ParticipantAction, { id, to, muted, held }: Participant, reason?: string): void {
    const data = { action, participantId: id, to, muted, held, reason };
    this.#deps.writer.addEvent({
      type: 'participant',
      at: new Date(this.#deps.clock.now()).toISOString(),
      data,
    });
  }
}
