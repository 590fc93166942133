import { CallwayError } from '../../base/errors.ts';
import { Conference } from '../conference/conference.ts';
import { Participant, type Participation } from '../conference/participant.ts';
import type { MediaSession, PartyCommands } from '../mediaSession.ts';
import { frameLength } from '../resample/frameResampler.ts';
import type { SampleRateHz } from '../resample/resampler.ts';
import { AsideRecording } from './asideRecording.ts';
import { type BridgedCall, type BridgePeer, bridgeCalls } from './callBridge.ts';
import { HoldMusic, type MusicSource } from './holdMusic.ts';
import { Ringback } from './ringback.ts';
import type { RtpTransceiver } from './rtpTransceiver.ts';

/** Commands as a media thread implements them: another session is that one's parties. */
export type Served<Commands> = {
  [Name in keyof Commands]: Commands[Name] extends (...args: infer Args) => Promise<infer Result>
    ? (
        ...args: {
          [Index in keyof Args]: Args[Index] extends MediaSession | undefined ? CallParties : Args[Index];
        }
      ) => Result | Promise<Result>
    : never;
};

/**
 * Whom a call's caller hears, or is recorded with, beside the agent: a bridge peer, the participants of a conference,
 * music on hold, and parties that are only recorded. All calls are on one thread.
 */
export class CallParties implements Served<PartyCommands> {
  /** @throws {CallwayError} `media_not_connected`, `call_ended`. */
  readonly #requireConnected: () => RtpTransceiver;
  #peer: BridgePeer | undefined;
  /** The conference of a call with participants; undefined without participants. */
  #conference: Conference | undefined;
  #music: HoldMusic | undefined;
  readonly #aside = new AsideRecording();
  #mixFrame: Int16Array = new Int16Array(0);
  /** True when this tick's frame for the caller is hold music. */
  #isMusic = false;

  constructor(requireConnected: () => RtpTransceiver) {
    this.#requireConnected = requireConnected;
  }

  get hasListeners(): boolean {
    return this.#peer !== undefined || this.#conference !== undefined || !this.#aside.isEmpty;
  }

  /** @returns This call's place in the conference that it has joined. @throws {CallwayError} 409 `no_human_party`. */
  requireParticipant(): Participant {
    if (this.#peer instanceof Participant) return this.#peer;
    throw new CallwayError('conflict', 'no_human_party', 'the participant has left the call');
  }

  /** @throws {CallwayError} `media_not_connected`. */
  startRingback(): void {
    const { sampleRateHz } = this.#requireConnected();
    this.#setPeer(new Ringback(sampleRateHz));
  }

  /** @throws {CallwayError} `media_not_connected` unless both calls are connected. */
  bridge(other: CallParties): void {
    const [peer, otherPeer] = bridgeCalls(this.#bridged, other.#bridged);
    other.#aside.end();
    this.#setPeer(peer);
    other.#setPeer(otherPeer);
  }

  unbridge(): void {
    this.#requireConnected();
    this.#setPeer(undefined);
  }

  /** @throws {CallwayError} `media_not_connected` unless both calls are connected. */
  join(call: CallParties): void {
    const { sampleRateHz } = this.#requireConnected();
    call.#conference ??= new Conference(call.#requireConnected().sampleRateHz);
    this.#setPeer(call.#conference.join(sampleRateHz));
  }

  setParticipation(participation: Participation): void {
    if (this.#peer instanceof Participant) this.#peer.participation = participation;
  }

  /** @throws {CallwayError} `media_not_connected`. */
  startMusic(source: MusicSource): void {
    this.#music = new HoldMusic(source, this.#requireConnected().sampleRateHz);
  }

  stopMusic(): void {
    this.#music = undefined;
  }

  /** @throws {CallwayError} `media_not_connected` unless both calls are connected. */
  recordAside(other: CallParties): void {
    this.#aside.add(other.#aside, bridgeCalls(this.#unheard, other.#unheard));
  }

  /** A digit that the caller has released. */
  sendDtmf(digit: string): void {
    this.#peer?.sendDtmf(digit);
  }

  /** Begins a tick. @see Conference.gather */
  gather(caller: Int16Array): Int16Array {
    this.#isMusic = false;
    return this.#conference?.gather(caller) ?? caller;
  }

  /** @see Conference.whisper */
  whisper(frame: Int16Array): void {
    this.#conference?.whisper(frame);
  }

  /** @param frame - The caller's, with those who are heard beside them. */
  send(frame: Int16Array): void {
    this.#peer?.send(frame);
  }

  /** Fills the frame for the caller with music, or else with the peer's audio. @returns True when a person is heard. */
  pull(frame: Int16Array): boolean {
    this.#isMusic = this.#music !== undefined;
    this.#music?.pull(frame);
    return !this.#isMusic && this.#peer?.pull(frame) === true;
  }

  /** @see Conference.mix */
  mix(frame: Int16Array): void {
    this.#conference?.mix(frame);
  }

  /**
   * Takes part in the recording of this tick.
   *
   * @param agent - The caller's output frame; overwritten.
   * @returns The same frame. Where the caller hears music, it has the other parties in place of the music.
   */
  recorded(caller: Int16Array, agent: Int16Array): Int16Array {
    this.#aside.send(caller, agent, this.#mixFrame);
    if (this.#aside.isEmpty) return agent;
    if (this.#isMusic && !this.#conference) agent.fill(0);
    this.#aside.mixInto(agent, this.#mixFrame);
    return agent;
  }

  changeRate(sampleRateHz: SampleRateHz): void {
    this.#mixFrame = new Int16Array(frameLength(sampleRateHz));
    this.#peer?.changeRate(sampleRateHz);
    this.#conference?.changeRate(sampleRateHz);
    this.#music?.changeRate(sampleRateHz);
    this.#aside.changeRate(sampleRateHz);
  }

  close(): void {
    this.#setPeer(undefined);
    this.#aside.end();
  }

  get #bridged(): BridgedCall {
    const { sampleRateHz } = this.#requireConnected();
    return { sampleRateHz, onDtmf: (digit) => this.#requireConnected().sender.forwardDigit(digit) };
  }

  get #unheard(): BridgedCall {
    return { ...this.#bridged, onDtmf: () => undefined };
  }

  #setPeer(peer: BridgePeer | undefined): void {
    this.#peer?.close();
    this.#peer = peer;
  }
}
