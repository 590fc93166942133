import { createFrameResampler, type FrameResampler, frameLength } from '../resample/frameResampler.ts';
import type { SampleRateHz } from '../resample/resampler.ts';

/** The other end of a bridged call: ringback tone or another call. Heard while the agent is silent. */
export interface BridgePeer {
  /** @param frame - The caller's next 20 ms, at the call's rate. */
  send(frame: Int16Array): void;
  /**
   * Fills the frame with the next 20 ms for the caller, or silence.
   *
   * @param frame - At the call's rate.
   * @returns Whether it has sound.
   */
  pull(frame: Int16Array): boolean;
  /** A digit that the caller has released. */
  sendDtmf(digit: string): void;
  /** The call has another codec from now on. */
  changeRate(sampleRateHz: SampleRateHz): void;
  close(): void;
}

export interface BridgedCall {
  readonly sampleRateHz: SampleRateHz;
  /** Called with the digits of the other call. */
  readonly onDtmf: (digit: string) => void;
}

/**
 * Calls of one thread tick at different phases of the same clock: one frame waits as a rule, two after a late tick. Any
 * more would delay the rest of the call.
 */
const MAX_QUEUED_FRAMES = 3;

/** Bridges two calls of one thread, whatever their codecs. @returns The peer of each. */
export function bridgeCalls(first: BridgedCall, second: BridgedCall): readonly [BridgePeer, BridgePeer] {
  const one = new BridgeLeg(first);
  const other = new BridgeLeg(second);
  one.connect(other);
  other.connect(one);
  return [one, other];
}

/** Queues the other call's audio until this call's next tick. */
class BridgeLeg implements BridgePeer {
  readonly onDtmf: (digit: string) => void;
  #sampleRateHz: SampleRateHz;
  #other: BridgeLeg | undefined;
  #resampler: FrameResampler | undefined;
  /** A ring of frames at this call's rate. */
  #frames: Int16Array;
  #first = 0;
  #count = 0;

  constructor({ sampleRateHz, onDtmf }: BridgedCall) {
    this.#sampleRateHz = sampleRateHz;
    this.onDtmf = onDtmf;
    this.#frames = new Int16Array(MAX_QUEUED_FRAMES * frameLength(sampleRateHz));
  }

  connect(other: BridgeLeg): void {
    this.#other = other;
  }

  send(frame: Int16Array): void {
    this.#other?.queue(frame, this.#sampleRateHz);
  }

  pull(frame: Int16Array): boolean {
    if (this.#count === 0) {
      frame.fill(0);
      return false;
    }
    frame.set(this.#slot(this.#first));
    this.#dropOldest();
    return true;
  }

  sendDtmf(digit: string): void {
    this.#other?.onDtmf(digit);
  }

  changeRate(sampleRateHz: SampleRateHz): void {
    if (sampleRateHz === this.#sampleRateHz) return;
    this.#sampleRateHz = sampleRateHz;
    this.#frames = new Int16Array(MAX_QUEUED_FRAMES * frameLength(sampleRateHz));
    this.#first = 0;
    this.#count = 0;
  }

  close(): void {
    if (this.#other) this.#other.#other = undefined;
    this.#other = undefined;
  }

  /** @param frame - The other call's, at its rate. */
  queue(frame: Int16Array, rateHz: SampleRateHz): void {
    if (this.#count === MAX_QUEUED_FRAMES) this.#dropOldest();
    const slot = this.#slot((this.#first + this.#count) % MAX_QUEUED_FRAMES);
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
    this.#first = (this.#first + 1) % MAX_QUEUED_FRAMES;
    this.#count--;
  }

  #slot(index: number): Int16Array {
    const length = frameLength(this.#sampleRateHz);
    return this.#frames.subarray(index * length, (index + 1) * length);
  }
}
