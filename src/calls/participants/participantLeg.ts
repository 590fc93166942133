import { CallwayError } from '../../base/errors.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { MediaSession } from '../../media/mediaSession.ts';
import { mayTryNextTrunk } from '../runner/callResult.ts';
import type { CallLeg, LegEnd } from '../telephony.ts';
import type { HoldMusicPlayer } from '../transfer/holdMusicPlayer.ts';
import type { Participant, ParticipantChange } from './participant.ts';

export interface ParticipantLegDeps {
  /** The caller's media session. */
  readonly media: MediaSession;
  /** Dials one trunk after the other. @throws {CallwayError} When the project's limits do not allow it. */
  readonly dial: () => AsyncIterable<CallLeg>;
  /** Plays music to participants on hold. */
  readonly music: HoldMusicPlayer;
  /** Called when they hear the others. */
  readonly onJoined: () => void;
  readonly clock: Clock;
  readonly onError: (error: unknown, what: string) => void;
}

/** A person on the way into a call, or in it. */
export class ParticipantLeg {
  readonly id: string;
  readonly to: string;
  readonly #deps: ParticipantLegDeps;
  #status: Participant['status'] = 'dialing';
  #muted = false;
  #held = false;
  #answeredAtMs: number | undefined;
  #endedAtMs: number | undefined;
  #leg: CallLeg | undefined;
  /** The reason for which we hang up. */
  #removedFor: string | undefined;

  constructor(deps: ParticipantLegDeps, id: string, to: string) {
    this.#deps = deps;
    this.id = id;
    this.to = to;
  }

  get state(): Participant {
    const joinedAt = this.#status === 'joined' ? new Date(this.#answeredAtMs ?? 0).toISOString() : null;
    return {
      id: this.id,
      to: this.to,
      status: this.#status,
      muted: this.#muted,
      held: this.#held,
      joinedAt,
    };
  }

  get joinedMedia(): MediaSession | undefined {
    return this.#status === 'joined' ? this.#leg?.media : undefined;
  }

  /** The talk time so far. */
  get talkTimeMs(): number {
    const untilMs = this.#endedAtMs ?? this.#deps.clock.now();
    return Math.max(0, untilMs - (this.#answeredAtMs ?? untilMs));
  }

  /**
   * Dials them and joins them to the call. @returns The reason for which they did not join, or have left. Never
   * rejects.
   */
  async run(): Promise<string> {
    let end: LegEnd | undefined;
    try {
      for await (const leg of this.#deps.dial()) {
        end = await this.#follow(leg);
        if (this.#removedFor !== undefined || this.#answeredAtMs !== undefined || !mayTryNextTrunk(end))
          break;
      }
    } catch (error) {
      if (error instanceof CallwayError && error.category !== 'internal') return error.code;
      this.#deps.onError(error, 'participant not dialed');
      return 'failed';
    }
    return this.#removedFor ?? leaveReason(end);
  }

  /** @throws {CallwayError} `call_ended` when they have just left. */
  async change({ muted = this.#muted, held = this.#held }: ParticipantChange): Promise<void> {
    this.#muted = muted;
    this.#held = held;
    if (this.#status === 'joined' && this.#leg?.media) await this.#applyTo(this.#leg.media);
  }

  /** Hangs up. The first reason counts. Idempotent. */
  remove(reason: string): void {
    this.#removedFor ??= reason;
    this.#leg
      ?.hangup()
      .catch((error: unknown) => this.#deps.onError(error, 'leg of a participant not hung up'));
  }

  #follow(leg: CallLeg): Promise<LegEnd> {
    this.#leg = leg;
    const { events } = leg;
    return new Promise((resolve) => {
      events.on('ringing', () => {
        if (this.#status === 'dialing') this.#status = 'ringing';
      });
      events.on('answered', () => void this.#join(leg));
      events.on('ended', (end) => {
        this.#leg = undefined;
        this.#endedAtMs = this.#deps.clock.now();
        resolve(end);
      });
      // Removed before there was a leg.
      if (this.#removedFor !== undefined) this.remove(this.#removedFor);
    });
  }

  async #join(leg: CallLeg): Promise<void> {
    this.#answeredAtMs = this.#deps.clock.now();
    const { media } = leg;
    try {
      if (!media) throw new Error('the leg of a participant has no media session');
      media.events.on('mediaTimeout', () => this.remove('media_timeout'));
      media.events.on('lost', () => this.remove('media_lost'));
      await media.join(this.#deps.media);
      await this.#applyTo(media);
      if (this.#leg !== leg || this.#removedFor !== undefined) return;
      this.#status = 'joined';
      this.#deps.onJoined();
    } catch (error) {
      // Either side may have hung up meanwhile.
      if (this.#leg !== leg) return;
      this.#deps.onError(error, 'participant not joined');
      this.remove('failed');
    }
  }

  async #applyTo(media: MediaSession): Promise<void> {
    await media.setParticipation({ isMuted: this.#muted, isHeld: this.#held });
    if (this.#held) this.#deps.music.play(media);
    else this.#deps.music.stop(media);
  }
}

/** @param end - The last leg's end; undefined when no trunk had a free channel. */
function leaveReason(end: LegEnd | undefined): string {
  if (!end) return 'no_trunk_free';
  return end.outcome === 'remote_hangup' ? 'hangup' : end.outcome;
}
