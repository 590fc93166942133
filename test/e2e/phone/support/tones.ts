import { rootMeanSquare, tonePower } from '../../../media/support/signals.ts';

export const AMPLITUDE = 10_000;
/** Far above any codec's quantization noise, far below speech. */
const AUDIBLE_RMS = 300;

function frames(samples: Int16Array, sampleRateHz: number): Int16Array[] {
  const length = sampleRateHz / 50;
  return Array.from({ length: Math.floor(samples.length / length) }, (_, index) =>
    samples.subarray(index * length, (index + 1) * length),
  );
}

/** How long a tone of {@link AMPLITUDE} or half of it sounds alone, in frames of 20 ms. */
export function toneMs(samples: Int16Array, sampleRateHz: number, frequencyHz: number): number {
  const isTone = (frame: Int16Array) => {
    const power = tonePower(frame, sampleRateHz, frequencyHz);
    return power > (AMPLITUDE / 2) ** 2 && power > 1.4 * rootMeanSquare(frame) ** 2;
  };
  return frames(samples, sampleRateHz).filter(isTone).length * 20;
}

/** How long anything sounds. */
export function soundMs(samples: Int16Array, sampleRateHz: number): number {
  return frames(samples, sampleRateHz).filter((frame) => rootMeanSquare(frame) > AUDIBLE_RMS).length * 20;
}

/** When a tone of {@link AMPLITUDE} starts, in ms, accurate to a few samples. @throws {Error} When it never starts. */
export function onsetMs(samples: Int16Array, sampleRateHz: number, frequencyHz: number): number {
  const length = sampleRateHz / 50;
  const at = samples.findIndex((sample, index) => {
    if (Math.abs(sample) < AMPLITUDE / 8) return false;
    return toneMs(samples.subarray(index, index + length), sampleRateHz, frequencyHz) > 0;
  });
  if (at < 0) throw new Error(`no tone of ${frequencyHz} Hz`);
  return (at * 1000) / sampleRateHz;
}

/** Start and end of a sound, in samples. */
export interface SoundSegment {
  readonly from: number;
  readonly to: number;
}

/**
 * Every separate sound, accurate to the sample.
 *
 * @param quietMs - Least silence between two sounds.
 * @param audible - Least sample value that counts.
 */
export function soundSegments(
  samples: Int16Array,
  sampleRateHz: number,
  quietMs: number,
  audible = AUDIBLE_RMS,
): SoundSegment[] {
  const quiet = (sampleRateHz * quietMs) / 1000;
  const found: { from: number; to: number }[] = [];
  for (const [index, sample] of samples.entries()) {
    if (Math.abs(sample) < audible) continue;
    const last = found.at(-1);
    if (last && index - last.to < quiet) last.to = index + 1;
    else found.push({ from: index, to: index + 1 });
  }
  return found;
}
