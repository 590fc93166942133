import { mixInto } from '../pcm16.ts';
import { type FrameResampler, frameLength, resamplerBetween } from '../resample/frameResampler.ts';
import type { SampleRateHz } from '../resample/resampler.ts';
import type { BridgePeer } from '../session/callBridge.ts';
import { FrameQueue } from '../session/frameQueue.ts';
import type { WhisperListener } from '../supervision/supervisor.ts';
import { type GainRamp, isSilent, writeMix } from './mix.ts';

/** The rights of a participant in a call. */
export interface Participation {
  /** True when the others do not hear the participant. */
  readonly isMuted: boolean;
  /** True when the participant and the others do not hear each other. */
  readonly isHeld: boolean;
}

export interface ParticipantOptions {
  /** The rate of the participant's codec. */
  readonly sampleRateHz: SampleRateHz;
  /** The conference's rate. */
  readonly mixRateHz: SampleRateHz;
  readonly onClosed: () => void;
}

/** A participant's side of a conference: their voice on its way to the next mix, and the mix on its way to them. */
export class Participant implements BridgePeer, WhisperListener {
  readonly #onClosed: () => void;
  readonly #voices: FrameQueue;
  readonly #mixes: FrameQueue;
  #sampleRateHz: SampleRateHz;
  #toMix: FrameResampler | undefined;
  #fromMix: FrameResampler | undefined;
  #participation: Participation = { isMuted: false, isHeld: false };
  /** The participant's voice in this mix; undefined while it is not heard. */
  #voice: Int16Array | undefined;
  /** The supervisors' words to this participant, for the next mix. */
  #whispered: Int16Array;
  #isWhispered = false;
  hasLeft = false;

  constructor({ sampleRateHz, mixRateHz, onClosed }: ParticipantOptions) {
    this.#onClosed = onClosed;
    this.#sampleRateHz = sampleRateHz;
    this.#voices = new FrameQueue(mixRateHz);
    this.#mixes = new FrameQueue(mixRateHz);
    this.#whispered = new Int16Array(frameLength(mixRateHz));
  }

  set participation(participation: Participation) {
    this.#participation = participation;
  }

  send(frame: Int16Array): void {
    const { isMuted, isHeld } = this.#participation;
    if (isMuted || isHeld || isSilent(frame)) return;
    this.#toMix = resamplerBetween(this.#sampleRateHz, this.#voices.sampleRateHz, this.#toMix);
    this.#voices.add().set(this.#toMix.process(frame));
  }

  pull(frame: Int16Array): boolean {
    const mix = this.#mixes.shift();
    if (mix === undefined || this.#participation.isHeld) {
      frame.fill(0);
      return false;
    }
    this.#fromMix = resamplerBetween(this.#mixes.sampleRateHz, this.#sampleRateHz, this.#fromMix);
    frame.set(this.#fromMix.process(mix));
    return true;
  }

  /** @returns The next 20 ms at the conference's rate, valid until the next `send`; undefined for silence. */
  takeVoice(): Int16Array | undefined {
    const voice = this.#voices.shift();
    this.#voice = this.#participation.isMuted || this.#participation.isHeld ? undefined : voice;
    return this.#voice;
  }

  /** @param sum - The sum of all voices. @param voices - The number of voices. */
  hear(sum: Int32Array, voices: number, gains: GainRamp): void {
    const others = this.#voice === undefined ? voices : voices - 1;
    const isWhispered = this.#isWhispered;
    this.#isWhispered = false;
    if (this.#participation.isHeld || (others === 0 && !isWhispered)) return;
    const mix = this.#mixes.add();
    if (others > 0) writeMix(mix, sum, gains, this.#voice);
    else mix.fill(0);
    if (isWhispered) mixInto(mix, this.#whispered);
  }

  /** Adds a supervisor's voice to the next mix. */
  whisper(voice: Int16Array): void {
    if (this.#isWhispered) mixInto(this.#whispered, voice);
    else this.#whispered.set(voice);
    this.#isWhispered = true;
  }

  /** Digits are for the agent, and of the caller. */
  sendDtmf(): void {}

  changeRate(sampleRateHz: SampleRateHz): void {
    this.#sampleRateHz = sampleRateHz;
  }

  /** The conference has another rate from now on. */
  changeMixRate(mixRateHz: SampleRateHz): void {
    this.#voices.changeRate(mixRateHz);
    this.#mixes.changeRate(mixRateHz);
    this.#whispered = new Int16Array(frameLength(mixRateHz));
    this.#isWhispered = false;
    this.#voice = undefined;
  }

  /** Leaves the conference. */
  close(): void {
    this.hasLeft = true;
    this.#onClosed();
  }
}
