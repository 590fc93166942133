import { createRandom } from './random.ts';

/** Root mean square of the caller's words, as of a person on a phone: 22 dB below full scale. */
const SPEECH_RMS = 2_600;
/** Quieter frames are pauses. */
const AUDIBLE_RMS = 150;
const FRAME_SECONDS = 0.01;
/** Words begin and end more softly than that. */
export const SOFT_EDGE_MS = 60;

export interface CallerVoiceOptions {
  readonly sampleRateHz: number;
  readonly seed: number;
  /** The sound behind the caller, with a root mean square of 1; undefined for silence. */
  readonly noise?: Float32Array | undefined;
  /** The signal-to-noise ratio of the words over the noise. */
  readonly snrDb: number;
}

/** The sound that a simulated caller sends. The same seed gives the same bytes for the same words of a turn. */
export class CallerVoice {
  readonly #options: CallerVoiceOptions;
  #pausedSamples = 0;

  constructor(options: CallerVoiceOptions) {
    this.#options = options;
  }

  get hasNoise(): boolean {
    return this.#options.noise !== undefined;
  }

  /**
   * @param speech - Words without noise.
   * @param turn - Decides which noise is behind them.
   * @returns The samples from {@link SOFT_EDGE_MS} before their first sound to as long after their last.
   */
  say(speech: Int16Array, turn: number): Int16Array {
    const { sampleRateHz, seed } = this.#options;
    const { words, rms } = audiblePart(speech, sampleRateHz);
    const gain = rms === 0 ? 1 : SPEECH_RMS / rms;
    const from = Math.floor(createRandom(seed + turn)() * sampleRateHz);
    return this.#mix(words.length, from, (sample) => (words[sample] ?? 0) * gain);
  }

  /** The next sound of a pause. */
  pause(samples: number): Int16Array {
    const from = this.#pausedSamples;
    this.#pausedSamples += samples;
    return this.#mix(samples, from, () => 0);
  }

  #mix(length: number, from: number, words: (sample: number) => number): Int16Array {
    const { noise, snrDb } = this.#options;
    const level = SPEECH_RMS * 10 ** (-snrDb / 20);
    return Int16Array.from({ length }, (_, sample) => {
      const behind = noise ? (noise[(from + sample) % noise.length] ?? 0) * level : 0;
      return Math.max(-32_768, Math.min(32_767, Math.round(words(sample) + behind)));
    });
  }
}

/** Returns the speech without the silence around it, and its loudness; no samples when nothing is audible. */
function audiblePart(speech: Int16Array, sampleRateHz: number) {
  const frameLength = Math.round(FRAME_SECONDS * sampleRateHz);
  let first = speech.length;
  let last = 0;
  let energy = 0;
  let counted = 0;
  for (let at = 0; at < speech.length; at += frameLength) {
    const frame = speech.subarray(at, at + frameLength);
    let sum = 0;
    for (const sample of frame) sum += sample * sample;
    if (sum / frame.length < AUDIBLE_RMS ** 2) continue;
    first = Math.min(first, at);
    last = at + frame.length;
    energy += sum;
    counted += frame.length;
  }
  const edge = Math.round((SOFT_EDGE_MS * sampleRateHz) / 1000);
  const words = speech.subarray(Math.max(0, first - edge), last + edge);
  return { words, rms: counted === 0 ? 0 : Math.sqrt(energy / counted) };
}
