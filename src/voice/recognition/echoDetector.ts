import { VAD_FRAME_MS } from '../../models/ports/voiceActivity.ts';
import { createCrossCorrelator } from './crossCorrelation.ts';

/** A speech waveform below 2 kHz identifies its moment. */
const COMPARED_RATE_HZ = 4000;
/** Longest echo path: the far end's phone, the networks between, and the jitter buffer. */
const MAX_ECHO_MS = 500;
/** Compared at once; shorter stretches of one vowel resemble those of another. */
const WINDOW_MS = 200;
/** Interval between searches while the echo path is unknown. */
const SEARCH_INTERVAL_MS = 100;
/** Share of the caller's audio that the agent's audio explains; below it, the caller speaks over the echo. */
const EXPLAINED_SHARE = 0.5;
/** The largest drift of a known path, in compared samples. */
const PATH_DRIFT = 3;
/** RMS below which there is only line noise. */
const SILENCE_RMS = 20;

const WINDOW = (WINDOW_MS * COMPARED_RATE_HZ) / 1000;
const MAX_ECHO = (MAX_ECHO_MS * COMPARED_RATE_HZ) / 1000;
/** No echo can follow after this much silence of the agent. */
const NO_ECHO_FRAMES = (WINDOW_MS + MAX_ECHO_MS) / VAD_FRAME_MS;

/** Shared by all detectors: each call completes before the next one starts. */
const correlator = createCrossCorrelator(WINDOW, MAX_ECHO + 1);

/** `echo_found`: an echo, and so was the speech just before it. */
type EchoVerdict = 'not_echo' | 'echo' | 'echo_found';

/** Detects the agent's own voice when the caller's line returns it. */
export interface EchoDetector {
  /**
   * Takes the next 20 ms.
   *
   * @param heard - Samples from the caller.
   * @param played - The agent's audio of the same time and length; undefined for silence.
   * @param isSpeech - Whether the frame sounds like speech; other frames are not judged.
   */
  judge(heard: Int16Array, played: Int16Array | undefined, isSpeech: boolean): EchoVerdict;
}

/**
 * Compares the caller's audio with the agent's. A line echo is the same waveform, delayed and softer: once it correlates
 * at the same delay twice, the path is known, and from then on one look at that delay separates echo from speech over it.
 *
 * @param sampleRateHz - A multiple of 4000.
 */
export function createEchoDetector(sampleRateHz: number): EchoDetector {
  const factor = sampleRateHz / COMPARED_RATE_HZ;
  const heard = new Float64Array(WINDOW);
  const played = new Float64Array(WINDOW + MAX_ECHO);
  let candidate: number | undefined;
  let path: number | undefined;
  let untilSearchMs = 0;
  let silentFrames = NO_ECHO_FRAMES;
  const silence = new Int16Array((sampleRateHz * VAD_FRAME_MS) / 1000);

  const search = (): EchoVerdict => {
    const best = bestDelayOverall(heard, played);
    const isConfirmed =
      best !== undefined && candidate !== undefined && Math.abs(best - candidate) <= PATH_DRIFT;
    candidate = best;
    if (!isConfirmed) return 'not_echo';
    path = best;
    return 'echo_found';
  };
  return {
    judge(heardFrame, playedFrame, isSpeech) {
      silentFrames = playedFrame === undefined ? silentFrames + 1 : 0;
      if (silentFrames > NO_ECHO_FRAMES) return 'not_echo';
      shiftIn(heard, heardFrame, factor);
      shiftIn(played, playedFrame ?? silence.subarray(0, heardFrame.length), factor);
      untilSearchMs -= (heardFrame.length * 1000) / sampleRateHz;
      if (!isSpeech || !isAudible(heard) || !isAudible(played)) return 'not_echo';
      if (path !== undefined) {
        const found = bestDelayNear(path, heard, played);
        if (found !== undefined) {
          path = found;
          return 'echo';
        }
      }
      if (untilSearchMs > 0) return 'not_echo';
      untilSearchMs = SEARCH_INTERVAL_MS;
      return search();
    },
  };
}

/** @returns The delay at which the agent's audio explains most of the caller's; undefined below the threshold. */
function bestDelayOverall(heard: Float64Array, played: Float64Array): number | undefined {
  const products = correlator.correlate(heard, played);
  return bestDelay(heard, played, { least: 0, most: MAX_ECHO, productAt: (from) => products[from] ?? 0 });
}

/** Does the same as {@link bestDelayOverall} for the few delays to which a known path may have drifted. */
function bestDelayNear(path: number, heard: Float64Array, played: Float64Array): number | undefined {
  const [least, most] = [Math.max(0, path - PATH_DRIFT), Math.min(MAX_ECHO, path + PATH_DRIFT)];
  return bestDelay(heard, played, { least, most, productAt: (from) => productOf(heard, played, from) });
}

interface DelayRange {
  readonly least: number;
  readonly most: number;
  /** Sum of products of the caller's window with the agent's audio from this index. */
  productAt(from: number): number;
}

function bestDelay(heard: Float64Array, played: Float64Array, range: DelayRange): number | undefined {
  const { least, most, productAt } = range;
  const energy = energyOf(heard);
  let best: number | undefined;
  let bestShare = EXPLAINED_SHARE;
  let from = MAX_ECHO - least;
  let reference = energyOf(played.subarray(from, from + WINDOW));
  for (let delay = least; delay <= most; delay++, from--) {
    if (delay > least) reference += squared(played[from]) - squared(played[from + WINDOW]);
    const share = reference <= 0 ? 0 : squared(productAt(from)) / (reference * energy);
    if (share < bestShare) continue;
    bestShare = share;
    best = delay;
  }
  return best;
}

function productOf(heard: Float64Array, played: Float64Array, from: number): number {
  let product = 0;
  for (let n = 0; n < WINDOW; n++) product += (heard[n] ?? 0) * (played[from + n] ?? 0);
  return product;
}

/** Appends the frame, decimated to the compared rate. */
function shiftIn(window: Float64Array, frame: Int16Array, factor: number): void {
  const count = Math.floor(frame.length / factor);
  window.copyWithin(0, count);
  for (let n = 0; n < count; n++) {
    let sum = 0;
    for (let k = 0; k < factor; k++) sum += frame[n * factor + k] ?? 0;
    window[window.length - count + n] = sum / factor;
  }
}

function isAudible(window: Float64Array): boolean {
  return energyOf(window) >= SILENCE_RMS * SILENCE_RMS * window.length;
}

function energyOf(samples: Float64Array): number {
  let energy = 0;
  for (let n = 0; n < samples.length; n++) energy += squared(samples[n]);
  return energy;
}

function squared(sample = 0): number {
  return sample * sample;
}
