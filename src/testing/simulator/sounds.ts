import { readFile } from 'node:fs/promises';

import { atRate, isSampleRate, type SampleRateHz } from '../../media/resample/resampler.ts';
import { parseWav, pickChannel } from '../../media/wav.ts';
import { createRandom } from './random.ts';

const BEEP_HZ = 1000;
/** Half of full scale, as typical answering machines. */
const BEEP_AMPLITUDE = 16_384;
/** Ramp at the start and end of a tone against clicks. */
const RAMP_MS = 5;

/** The tone of an answering machine. */
export function beep(durationMs: number, sampleRateHz: number): Int16Array {
  const length = Math.round((durationMs * sampleRateHz) / 1000);
  const ramp = (RAMP_MS * sampleRateHz) / 1000;
  return Int16Array.from({ length }, (_, i) => {
    const gain = Math.min(1, i / ramp, (length - i) / ramp);
    return Math.round(gain * BEEP_AMPLITUDE * Math.sin((2 * Math.PI * BEEP_HZ * i) / sampleRateHz));
  });
}

/** White noise; reproducible by its seed. @param belowFullScaleDb - The level of its peak. */
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

/**
 * Reads a WAV file and converts its sample rate; the left channel of a stereo file.
 *
 * @throws {Error} When the file does not exist or is not 16-bit PCM at a supported sample rate.
 */
export async function soundOfFile(path: string, sampleRateHz: number): Promise<Int16Array> {
  const wav = parseWav(await readFile(path));
  return onLine(pickChannel(wav, 0), wav.sampleRateHz, sampleRateHz);
}

/** Converts the sample rate. @throws {RangeError} For an unsupported sample rate. */
export function onLine(samples: Int16Array, fromHz: number, toHz: number): Int16Array {
  return atRate(samples, lineRate(fromHz), lineRate(toHz));
}

function lineRate(rateHz: number): SampleRateHz {
  if (isSampleRate(rateHz)) return rateHz;
  throw new RangeError(`unsupported sample rate: 8000, 16000 or 24000, not ${rateHz}`);
}
