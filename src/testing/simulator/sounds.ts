import { readFile } from 'node:fs/promises';

import { atRate, isSampleRate, type SampleRateHz } from '../../media/resample/resampler.ts';
import { parseWav, pickChannel } from '../../media/wav.ts';
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

/**
 * What a WAV file holds, at another rate; of two channels the left one.
 *
 * @throws {Error} When there is none, or it is no WAV file of 16 bits at a rate of telephony.
 */
export async function soundOfFile(path: string, sampleRateHz: number): Promise<Int16Array> {
  const wav = parseWav(await readFile(path));
  return onLine(pickChannel(wav, 0), wav.sampleRateHz, sampleRateHz);
}

/** The same sound at another rate. @throws {RangeError} For a rate that no line has. */
export function onLine(samples: Int16Array, fromHz: number, toHz: number): Int16Array {
  return atRate(samples, lineRate(fromHz), lineRate(toHz));
}

function lineRate(rateHz: number): SampleRateHz {
  if (isSampleRate(rateHz)) return rateHz;
  throw new RangeError(`a sound on a line has 8000, 16000 or 24000 samples a second, not ${rateHz}`);
}
