import { rootMeanSquare, tonePower } from '../../../media/signals.ts';

export const AMPLITUDE = 10_000;
/** Far above the quantisation of any codec here, far below speech. */
const AUDIBLE_RMS = 300;

function frames(samples: Int16Array, sampleRateHz: number): Int16Array[] {
  const length = sampleRateHz / 50;
  return Array.from({ length: Math.floor(samples.length / length) }, (_, index) =>
    samples.subarray(index * length, (index + 1) * length),
  );
}

/** How long a tone of {@link AMPLITUDE}, or half of it, and nothing else sounds, by frames of 20 ms. */
export function toneMs(samples: Int16Array, sampleRateHz: number, frequencyHz: number): number {
  const isTone = (frame: Int16Array) => {
    const power = tonePower(frame, sampleRateHz, frequencyHz);
    return power > (AMPLITUDE / 2) ** 2 && power > 1.4 * rootMeanSquare(frame) ** 2;
  };
  return frames(samples, sampleRateHz).filter(isTone).length * 20;
}

/** How long anything at all sounds. */
export function soundMs(samples: Int16Array, sampleRateHz: number): number {
  return frames(samples, sampleRateHz).filter((frame) => rootMeanSquare(frame) > AUDIBLE_RMS).length * 20;
}
