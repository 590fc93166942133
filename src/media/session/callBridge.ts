import { type FrameResampler, resamplerBetween } from '../resample/frameResampler.ts';
import type { SampleRateHz } from '../resample/resampler.ts';
import { FrameQueue } from './frameQueue.ts';

/** The other end of a bridged call: ringback tone or another call. Heard while the agent is silent. */
export interface BridgePeer {
  /** @param frame - The caller's next 20 ms, at the call's rate. */
  send(frame: Int16Array): void;
  /**
   * Fills the frame with the next 20 ms for the caller, or silence.
   *
   * @param frame - Receives a frame at the call's rate.
   * @returns True when the frame has sound.
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
  /** Receives the digits of the other call. */
  readonly onDtmf: (digit: string) => void;
}

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
  readonly #queue: FrameQueue;
  #other: BridgeLeg | undefined;
  #resampler: FrameResampler | undefined;

  constructor({ sampleRateHz, onDtmf }: BridgedCall) {
    this.#queue = new FrameQueue(sampleRateHz);
    this.onDtmf = onDtmf;
  }

  connect(other: BridgeLeg): void {
    this.#other = other;
  }

  send(frame: Int16Array): void {
    this.#other?.queue(frame, this.#queue.sampleRateHz);
  }

  pull(frame: Int16Array): boolean {
    const next = this.#queue.shift();
    if (next) frame.set(next);
    else frame.fill(0);
    return next !== undefined;
  }

  sendDtmf(digit: string): void {
    this.#other?.onDtmf(digit);
  }

  changeRate(sampleRateHz: SampleRateHz): void {
    this.#queue.changeRate(sampleRateHz);
  }

  close(): void {
    if (this.#other) this.#other.#other = undefined;
    this.#other = undefined;
  }

  /** @param frame - The other call's, at its rate. */
  queue(frame: Int16Array, rateHz: SampleRateHz): void {
    this.#resampler = resamplerBetween(rateHz, this.#queue.sampleRateHz, this.#resampler);
    this.#queue.add().set(this.#resampler.process(frame));
  }
}
