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

/** When a tone of {@link AMPLITUDE} begins, in ms; to a few samples. @throws {Error} Where it never does. */
export function onsetMs(samples: Int16Array, sampleRateHz: number, frequencyHz: number): number {
  const length = sampleRateHz / 50;
  const at = samples.findIndex((sample, index) => {
    if (Math.abs(sample) < AMPLITUDE / 8) return false;
    return toneMs(samples.subarray(index, index + length), sampleRateHz, frequencyHz) > 0;
  });
  if (at < 0) throw new Error(`no tone of ${frequencyHz} Hz`);
  return (at * 1000) / sampleRateHz;
}

/** Every sound that stands alone for so long, with a frame of the quiet before it and after. */
export function soundsOf(samples: Int16Array, sampleRateHz: number, quietMs: number): Int16Array[] {
  const length = sampleRateHz / 50;
  const sounds: { from: number; to: number }[] = [];
  for (const [index, frame] of frames(samples, sampleRateHz).entries()) {
    if (rootMeanSquare(frame) <= AUDIBLE_RMS) continue;
    const last = sounds.at(-1);
    if (last && (index - last.to) * 20 < quietMs) last.to = index + 1;
    else sounds.push({ from: index, to: index + 1 });
  }
  return sounds.map(({ from, to }) => samples.subarray(Math.max(0, from - 1) * length, (to + 1) * length));
}
