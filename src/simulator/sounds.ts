import { createRandom } from './random.ts';

const BEEP_HZ = 1000;
/** Half of full scale: as loud as answering machines are. */
const BEEP_AMPLITUDE = 16_384;
/** Keeps a tone's begin and end from clicking. */
const RAMP_MS = 5;

/** A tone of an answering machine. */
export function beep(durationMs: number, sampleRateHz: number): Int16Array {
  const length = Math.round((durationMs * sampleRateHz) / 1000);
  const ramp = (RAMP_MS * sampleRateHz) / 1000;
  return Int16Array.from({ length }, (_, i) => {
    const gain = Math.min(1, i / ramp, (length - i) / ramp);
    return Math.round(gain * BEEP_AMPLITUDE * Math.sin((2 * Math.PI * BEEP_HZ * i) / sampleRateHz));
  });
}

/** White noise; the same for the same seed. @param belowFullScaleDb - Of its peak. */
export function noise(
  durationMs: number,
  sampleRateHz: number,
  belowFullScaleDb: number,
  seed: number,
): Int16Array {
  const random = createRandom(seed);
  const amplitude = 32_767 * 10 ** (-belowFullScaleDb / 20);
  const length = Math.round((durationMs * sampleRateHz) / 1000);
  return Int16Array.from({ length }, () => Math.round((random() * 2 - 1) * amplitude));
}
