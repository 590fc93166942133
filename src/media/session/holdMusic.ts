import { createFrameResampler, type FrameResampler, frameLength } from '../resample/frameResampler.ts';
import type { SampleRateHz } from '../resample/resampler.ts';

/** The music for a party that waits. */
export type MusicSource =
  | { readonly kind: 'default' }
  /**
   * @property samples - The samples at {@link MUSIC_RATE_HZ}, which are repeated. They never change, since media
   *   threads may share them.
   */
  | { readonly kind: 'clip'; readonly samples: Int16Array };

/** The rate of music. It is narrowband, so that every codec carries it. */
export const MUSIC_RATE_HZ = 8000;

/** Semitones above middle C: broken chords of C, A minor, F and G. */
const TUNE = [0, 4, 7, 12, 7, 4, -3, 0, 4, 9, 4, 0, -7, -3, 0, 5, 0, -3, -5, -1, 2, 7, 2, -1] as const;
const MIDDLE_C_HZ = 261.63;
const NOTE_SAMPLES = 0.42 * MUSIC_RATE_HZ;
/** The number of notes that may sound at once. */
const OVERLAP = 3;
/** The amplitude of a note. Three notes together stay 12 dB below full scale. */
const AMPLITUDE = 2400;
const DECAY_PER_SECOND = 2.6;
const ATTACK_SECONDS = 0.01;
const OVERTONE = 0.25;

/** Plays a clip, or a tune that is made while it plays. */
export class HoldMusic {
  readonly #sampleAt: (position: number) => number;
  readonly #frame = new Int16Array(frameLength(MUSIC_RATE_HZ));
  #resampler: FrameResampler;
  #position = 0;

  constructor(source: MusicSource, sampleRateHz: SampleRateHz) {
    this.#sampleAt = source.kind === 'clip' ? clipSample(source.samples) : tuneSample;
    this.#resampler = createFrameResampler(MUSIC_RATE_HZ, sampleRateHz);
  }

  /** @param frame - Filled with the next 20 ms, at the call's rate. */
  pull(frame: Int16Array): void {
    for (let n = 0; n < this.#frame.length; n++) this.#frame[n] = this.#sampleAt(this.#position + n);
    this.#position += this.#frame.length;
    frame.set(this.#resampler.process(this.#frame));
  }

  /** The call has another codec from now on. */
  changeRate(sampleRateHz: SampleRateHz): void {
    this.#resampler = createFrameResampler(MUSIC_RATE_HZ, sampleRateHz);
  }
}

function clipSample(samples: Int16Array): (position: number) => number {
  return (position) => samples[position % samples.length] ?? 0;
}

function tuneSample(position: number): number {
  const latest = Math.floor(position / NOTE_SAMPLES);
  let sum = 0;
  for (let index = Math.max(0, latest - OVERLAP + 1); index <= latest; index++) {
    const seconds = (position - index * NOTE_SAMPLES) / MUSIC_RATE_HZ;
    const phase = 2 * Math.PI * noteHz(index) * seconds;
    const level = Math.min(1, seconds / ATTACK_SECONDS) * Math.exp(-DECAY_PER_SECOND * seconds);
    sum += level * (Math.sin(phase) + OVERTONE * Math.sin(2 * phase));
  }
  return Math.round(AMPLITUDE * sum);
}

function noteHz(index: number): number {
  return MIDDLE_C_HZ * 2 ** ((TUNE[index % TUNE.length] ?? 0) / 12);
}
