import { VAD_FRAME_MS } from '../../providers/ports/voiceActivity.ts';
import { createCorrelator } from './crossCorrelation.ts';

/** Speech's waveform below 2 kHz tells one moment of it from every other. */
const COMPARED_RATE_HZ = 4000;
/** Echoes come back within so long: the far end's phone, the networks between, and the jitter buffer. */
const LONGEST_ECHO_MS = 500;
/** So much is looked at together: shorter stretches of one vowel are like those of another. */
const WINDOW_MS = 200;
/** An unknown way is looked for so often. */
const SEARCH_EVERY_MS = 100;
/** Share of what comes in that what was played explains; beyond it, somebody speaks over the echo. */
const EXPLAINED_SHARE = 0.5;
/** Of the compared samples: a path wanders by so much. */
const WANDER = 3;
/** RMS below which nothing is compared: the line's own noise. */
const QUIETEST_RMS = 20;

const WINDOW = (WINDOW_MS * COMPARED_RATE_HZ) / 1000;
const LONGEST_ECHO = (LONGEST_ECHO_MS * COMPARED_RATE_HZ) / 1000;

/** After so much silence of the agent's nothing of it can come back any more. */
const FORGOTTEN_FRAMES = (WINDOW_MS + LONGEST_ECHO_MS) / VAD_FRAME_MS;

/** For all guards: each is done with it before the next begins. */
const correlator = createCorrelator(WINDOW, LONGEST_ECHO + 1);

export type EchoVerdict =
  /** Nothing that was played explains it. */
  | 'own'
  | 'echo'
  /** An echo, and what was heard just before must have been one too. */
  | 'found';

/** Knows the agent's own voice where it comes back over the caller's line. */
export interface EchoDetector {
  /**
   * Takes the next 20 ms.
   *
   * @param heard - From the caller.
   * @param played - What went out at the same time, as long; undefined for silence.
   * @param isSpeech - Whether it sounds like speech, so that it matters whose it is.
   */
  judge(heard: Int16Array, played: Int16Array | undefined, isSpeech: boolean): EchoVerdict;
}

/**
 * Compares what comes in with what was played before. A line's echo is the same waveform, later and softer: where it
 * correlates at one and the same delay twice, the way of the echo is known, and from then on it takes one look at that
 * delay to tell the echo from somebody who speaks over it.
 *
 * @param sampleRateHz - A multiple of 4000.
 */
export function createEchoDetector(sampleRateHz: number): EchoDetector {
  const factor = sampleRateHz / COMPARED_RATE_HZ;
  const heard = new Float64Array(WINDOW);
  const played = new Float64Array(WINDOW + LONGEST_ECHO);
  let candidate: number | undefined;
  let path: number | undefined;
  let untilSearchMs = 0;
  let silentFrames = FORGOTTEN_FRAMES;
  const silence = new Int16Array((sampleRateHz * VAD_FRAME_MS) / 1000);

  const search = (): EchoVerdict => {
    const best = bestEverywhere(heard, played);
    const wasSeen = best !== undefined && candidate !== undefined && Math.abs(best - candidate) <= WANDER;
    candidate = best;
    if (!wasSeen) return 'own';
    path = best;
    return 'found';
  };
  return {
    judge(heardFrame, playedFrame, isSpeech) {
      silentFrames = playedFrame === undefined ? silentFrames + 1 : 0;
      if (silentFrames > FORGOTTEN_FRAMES) return 'own';
      shiftIn(heard, heardFrame, factor);
      shiftIn(played, playedFrame ?? silence.subarray(0, heardFrame.length), factor);
      untilSearchMs -= (heardFrame.length * 1000) / sampleRateHz;
      if (!isSpeech || !isAudible(heard) || !isAudible(played)) return 'own';
      if (path !== undefined) {
        const found = bestNear(path, heard, played);
        if (found !== undefined) {
          path = found;
          return 'echo';
        }
      }
      if (untilSearchMs > 0) return 'own';
      untilSearchMs = SEARCH_EVERY_MS;
      return search();
    },
  };
}

/** @returns The delay at which what was played explains most of what is heard, if it explains enough. */
function bestEverywhere(heard: Float64Array, played: Float64Array): number | undefined {
  const products = correlator.correlate(heard, played);
  return bestDelay(heard, played, { least: 0, most: LONGEST_ECHO, productAt: (from) => products[from] ?? 0 });
}

/** The same of the few delays to which a known path may have wandered. */
function bestNear(path: number, heard: Float64Array, played: Float64Array): number | undefined {
  const [least, most] = [Math.max(0, path - WANDER), Math.min(LONGEST_ECHO, path + WANDER)];
  return bestDelay(heard, played, { least, most, productAt: (from) => productOf(heard, played, from) });
}

interface Compared {
  readonly least: number;
  readonly most: number;
  /** The sum of products of what is heard with what was played from there on. */
  productAt(from: number): number;
}

function bestDelay(heard: Float64Array, played: Float64Array, compared: Compared): number | undefined {
  const { least, most, productAt } = compared;
  const energy = energyOf(heard);
  let best: number | undefined;
  let bestShare = EXPLAINED_SHARE;
  let from = LONGEST_ECHO - least;
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

/** The frame's samples at the compared rate, behind those before. */
function shiftIn(ring: Float64Array, frame: Int16Array, factor: number): void {
  const count = Math.floor(frame.length / factor);
  ring.copyWithin(0, count);
  for (let n = 0; n < count; n++) {
    let sum = 0;
    for (let k = 0; k < factor; k++) sum += frame[n * factor + k] ?? 0;
    ring[ring.length - count + n] = sum / factor;
  }
}

function isAudible(ring: Float64Array): boolean {
  return energyOf(ring) >= QUIETEST_RMS * QUIETEST_RMS * ring.length;
}

function energyOf(samples: Float64Array): number {
  let energy = 0;
  for (let n = 0; n < samples.length; n++) energy += squared(samples[n]);
  return energy;
}

function squared(sample = 0): number {
  return sample * sample;
}
