import type { Concealer } from './concealer.ts';
import { findPitch } from './pitch.ts';

/** Lowest and highest voice: 66 to 200 Hz. */
const MIN_PITCH_MS = 5;
const MAX_PITCH_MS = 15;
/** An overlap is a quarter of a pitch period, and so is the delay. */
const MAX_OVERLAP_MS = MAX_PITCH_MS / 4;
/** The repeated history: three periods and an overlap. */
const HISTORY_MS = 3 * MAX_PITCH_MS + MAX_OVERLAP_MS;
const MAX_PERIODS = 3;
/** Each 10 ms of loss one more period is repeated, to avoid a buzz. */
const STEP_MS = 10;
/** Full level for one step, then a fade to silence at 60 ms. */
const FADE_FROM_MS = 10;
const FADE_TO_MS = 60;
/** The overlap after a loss grows by this for each lost step, up to one step. */
const OVERLAP_GROWTH_MS = 4;

/**
 * Conceals by pitch waveform replication: the last pitch periods are repeated with overlap and add, and fade. All speech
 * is delayed by 3.75 ms, so that the first overlap is before the loss.
 *
 * @see ITU-T G.711 appendix I; there for 8 kHz in frames of 10 ms, here for any rate and any length
 */
export class PitchConcealer implements Concealer {
  readonly #sampleRateHz: number;
  readonly #delay: number;
  readonly #step: number;
  /** Newest last; the last `#delay` samples have not been played yet. */
  readonly #history: Int16Array;
  /** The history at the start of a loss, its end prepared for repetition. */
  readonly #wave: Float64Array;
  /** The last samples before the loss, which the wave's end fades out of. */
  readonly #lastQuarter: Float64Array;
  /** The continuation of the wave before it was extended. */
  readonly #shorterWave: Float64Array;
  #overlapLength = 0;
  #overlapAt = 0;
  #pitch = 0;
  #overlap = 0;
  #periods = 0;
  #position = 0;
  #lostSamples = 0;

  constructor(sampleRateHz: number) {
    this.#sampleRateHz = sampleRateHz;
    this.#delay = this.#toSamples(MAX_OVERLAP_MS);
    this.#step = this.#toSamples(STEP_MS);
    this.#history = new Int16Array(this.#toSamples(HISTORY_MS));
    this.#wave = new Float64Array(this.#history.length);
    this.#lastQuarter = new Float64Array(this.#delay);
    this.#shorterWave = new Float64Array(this.#delay);
  }

  received(frame: Int16Array): void {
    if (this.#lostSamples > 0) this.#overlapReceived(frame.subarray(0, this.#step));
    this.#delayBy(frame);
  }

  conceal(out: Int16Array): void {
    for (let at = 0; at < out.length; ) {
      if (this.#lostSamples === 0) this.#startLoss();
      const intoStep = this.#lostSamples % this.#step;
      if (intoStep === 0 && this.#lostSamples > 0) this.#extend();
      const piece = out.subarray(at, at + this.#step - intoStep);
      for (let n = 0; n < piece.length; n++) piece[n] = Math.round(this.#next());
      this.#delayBy(piece);
      at += piece.length;
    }
  }

  /** Moves the samples into the history and the delayed ones out of it, in whole blocks. */
  #delayBy(samples: Int16Array): void {
    const history = this.#history;
    const longest = history.length - this.#delay;
    for (let at = 0; at < samples.length; at += longest) {
      const isWhole = samples.length <= longest;
      const piece = isWhole ? samples : samples.subarray(at, at + longest);
      history.copyWithin(0, piece.length);
      history.set(piece, history.length - piece.length);
      piece.set(history.subarray(longest - piece.length, longest));
    }
  }

  #startLoss(): void {
    const { length } = this.#history;
    this.#wave.set(this.#history);
    this.#pitch = findPitch(this.#wave, this.#toSamples(MIN_PITCH_MS), this.#toSamples(MAX_PITCH_MS));
    this.#overlap = this.#pitch >> 2;
    this.#lastQuarter.set(this.#wave.subarray(length - this.#overlap));
    this.#periods = 1;
    this.#position = 0;
    this.#overlapLength = 0;
    this.#overlapAt = 0;
    this.#prepareWave();
    // The delayed samples lead into the repetition.
    for (let n = length - this.#overlap; n < length; n++) this.#history[n] = Math.round(this.#wave[n] ?? 0);
  }

  /** Cross-fades the end of the wave into the start of the repetition. */
  #prepareWave(): void {
    const wave = this.#wave;
    const end = wave.length - this.#overlap;
    const before = end - this.#periods * this.#pitch;
    for (let n = 0; n < this.#overlap; n++) {
      const gain = (n + 1) / (this.#overlap + 1);
      wave[end + n] = (this.#lastQuarter[n] ?? 0) * (1 - gain) + (wave[before + n] ?? 0) * gain;
    }
  }

  /** Repeats one more period from now on, and overlaps the longer wave with the shorter one. */
  #extend(): void {
    if (this.#periods === MAX_PERIODS) return;
    for (let n = 0; n < this.#overlap; n++) this.#shorterWave[n] = this.#nextOfWave();
    this.#position = (this.#position - this.#overlap + this.#periods * this.#pitch) % this.#pitch;
    this.#periods++;
    this.#prepareWave();
    this.#overlapLength = this.#overlap;
    this.#overlapAt = 0;
  }

  /** Fades the concealed speech out after a loss, while the received speech fades in. */
  #overlapReceived(received: Int16Array): void {
    const stepsLost = Math.ceil(this.#lostSamples / this.#step);
    const grown = this.#overlap + (stepsLost - 1) * this.#toSamples(OVERLAP_GROWTH_MS);
    const overlapLength = Math.min(received.length, grown);
    for (let n = 0; n < overlapLength; n++) {
      const gain = (n + 1) / (overlapLength + 1);
      received[n] = Math.round(this.#next() * (1 - gain) + (received[n] ?? 0) * gain);
    }
    this.#lostSamples = 0;
  }

  /** Returns the next concealed sample. */
  #next(): number {
    const lostMs = (this.#lostSamples * 1000) / this.#sampleRateHz;
    this.#lostSamples++;
    if (lostMs >= FADE_TO_MS) return 0;
    const gain = lostMs <= FADE_FROM_MS ? 1 : (FADE_TO_MS - lostMs) / (FADE_TO_MS - FADE_FROM_MS);
    const sample = this.#nextOfWave();
    if (this.#overlapAt === this.#overlapLength) return sample * gain;
    const share = (this.#overlapAt + 1) / (this.#overlapLength + 1);
    const joined = (this.#shorterWave[this.#overlapAt] ?? 0) * (1 - share) + sample * share;
    this.#overlapAt++;
    return joined * gain;
  }

  #nextOfWave(): number {
    const length = this.#periods * this.#pitch;
    const sample = this.#wave[this.#wave.length - length + this.#position] ?? 0;
    this.#position = (this.#position + 1) % length;
    return sample;
  }

  #toSamples(ms: number): number {
    return Math.round((ms * this.#sampleRateHz) / 1000);
  }
}
