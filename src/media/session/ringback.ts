import type { SampleRateHz } from '../resample/resampler.ts';
import type { BridgePeer } from './bridgePeer.ts';

/** Heard in Taiwan and in North America. @see ITU-T E.180 */
const FREQUENCIES_HZ = [440, 480] as const;
/** 19 dB below the overload point each, as exchanges have it: well heard, and softer than speech. */
const AMPLITUDE = 3600;
const ON_SECONDS = 1;
const OFF_SECONDS = 2;

/** The tone that a caller hears while a phone rings that says nothing itself. */
export function createRinging(sampleRateHz: SampleRateHz): BridgePeer {
  let rateHz = sampleRateHz;
  let at = 0;
  const sampleAt = (seconds: number): number => {
    if (seconds >= ON_SECONDS) return 0;
    const turns = FREQUENCIES_HZ.map((frequencyHz) => Math.sin(2 * Math.PI * frequencyHz * seconds));
    return Math.round(AMPLITUDE * turns.reduce((sum, turn) => sum + turn, 0));
  };
  return {
    say: () => undefined,
    hear(frame) {
      const cycle = (ON_SECONDS + OFF_SECONDS) * rateHz;
      for (let n = 0; n < frame.length; n++) frame[n] = sampleAt(((at + n) % cycle) / rateHz);
      const isSounding = at < ON_SECONDS * rateHz;
      at = (at + frame.length) % cycle;
      return isSounding;
    },
    press: () => undefined,
    changeRate(nextHz) {
      at = Math.round((at * nextHz) / rateHz);
      rateHz = nextHz;
    },
    leave: () => undefined,
  };
}
