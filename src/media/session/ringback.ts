import type { SampleRateHz } from '../resample/resampler.ts';
import type { BridgePeer } from './callBridge.ts';

/** Ringback tone of Taiwan and North America. @see ITU-T E.180 */
const FREQUENCIES_HZ = [440, 480] as const;
/** 19 dB below the overload point each, as exchanges play it. */
const AMPLITUDE = 3600;
const ON_SECONDS = 1;
const OFF_SECONDS = 2;

/** Plays ringback tone. */
export class Ringback implements BridgePeer {
  #sampleRateHz: SampleRateHz;
  /** Within the cycle of tone and pause. */
  #position = 0;

  constructor(sampleRateHz: SampleRateHz) {
    this.#sampleRateHz = sampleRateHz;
  }

  pull(frame: Int16Array): boolean {
    const isSounding = this.#position < ON_SECONDS * this.#sampleRateHz;
    const cycle = (ON_SECONDS + OFF_SECONDS) * this.#sampleRateHz;
    for (let n = 0; n < frame.length; n++) {
      frame[n] = sampleAt(((this.#position + n) % cycle) / this.#sampleRateHz);
    }
    this.#position = (this.#position + frame.length) % cycle;
    return isSounding;
  }

  changeRate(sampleRateHz: SampleRateHz): void {
    this.#position = Math.round((this.#position * sampleRateHz) / this.#sampleRateHz);
    this.#sampleRateHz = sampleRateHz;
  }

  send(): void {}
  sendDtmf(): void {}
  close(): void {}
}

function sampleAt(seconds: number): number {
  if (seconds >= ON_SECONDS) return 0;
  const tones = FREQUENCIES_HZ.map((frequencyHz) => Math.sin(2 * Math.PI * frequencyHz * seconds));
  return Math.round(AMPLITUDE * tones.reduce((sum, tone) => sum + tone, 0));
}
