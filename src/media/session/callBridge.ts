import { createFrameResampler, type FrameResampler, frameLength } from '../resample/frameResampler.ts';
import type { SampleRateHz } from '../resample/resampler.ts';
import type { BridgePeer } from './bridgePeer.ts';

/** One of two calls that are to be joined. */
export interface BridgedCall {
  readonly sampleRateHz: SampleRateHz;
  /** The other call's peer has pressed a key. */
  readonly onKey: (digit: string) => void;
}

/**
 * Both calls have the same thread's clock, at phases of their own: one frame waits as a rule, and two after a late tick.
 * What is more would be delay for the rest of the call.
 */
const MAX_WAITING_FRAMES = 3;

/** Joins two calls of one thread: each hears what the other's peer says, whatever their codecs. */
export function bridgeCalls(one: BridgedCall, other: BridgedCall): readonly [BridgePeer, BridgePeer] {
  const near = new CallBridge(one);
  const far = new CallBridge(other);
  near.meet(far);
  far.meet(near);
  return [near, far];
}

/** One call's side: holds what the other side has said until the call's next tick. */
class CallBridge implements BridgePeer {
  readonly onKey: (digit: string) => void;
  #sampleRateHz: SampleRateHz;
  #other: CallBridge | undefined;
  #resampler: FrameResampler | undefined;
  /** A ring of frames at this call's rate. */
  #frames: Int16Array;
  #first = 0;
  #count = 0;

  constructor({ sampleRateHz, onKey }: BridgedCall) {
    this.#sampleRateHz = sampleRateHz;
    this.onKey = onKey;
    this.#frames = new Int16Array(MAX_WAITING_FRAMES * frameLength(sampleRateHz));
  }

  meet(other: CallBridge): void {
    this.#other = other;
  }

  say(frame: Int16Array): void {
    this.#other?.take(frame, this.#sampleRateHz);
  }

  hear(frame: Int16Array): boolean {
    if (this.#count === 0) {
      frame.fill(0);
      return false;
    }
    frame.set(this.#slot(this.#first));
    this.#dropOldest();
    return true;
  }

  press(digit: string): void {
    this.#other?.onKey(digit);
  }

  changeRate(sampleRateHz: SampleRateHz): void {
    if (sampleRateHz === this.#sampleRateHz) return;
    this.#sampleRateHz = sampleRateHz;
    this.#frames = new Int16Array(MAX_WAITING_FRAMES * frameLength(sampleRateHz));
    this.#first = 0;
    this.#count = 0;
  }

  leave(): void {
    if (this.#other) this.#other.#other = undefined;
    this.#other = undefined;
  }

  /** What the other side says, at its rate. */
  take(frame: Int16Array, rateHz: SampleRateHz): void {
    if (this.#count === MAX_WAITING_FRAMES) this.#dropOldest();
    const slot = this.#slot((this.#first + this.#count) % MAX_WAITING_FRAMES);
    slot.set(this.#resamplerFrom(rateHz).process(frame));
    this.#count++;
  }

  #resamplerFrom(rateHz: SampleRateHz): FrameResampler {
    const current = this.#resampler;
    if (current?.inputRateHz === rateHz && current.outputRateHz === this.#sampleRateHz) return current;
    this.#resampler = createFrameResampler(rateHz, this.#sampleRateHz);
    return this.#resampler;
  }

  #dropOldest(): void {
    this.#first = (this.#first + 1) % MAX_WAITING_FRAMES;
    this.#count--;
  }

  #slot(index: number): Int16Array {
    const length = frameLength(this.#sampleRateHz);
    return this.#frames.subarray(index * length, (index + 1) * length);
  }
}
