import { setImmediate as nextTurn } from 'node:timers/promises';

import { invalid } from '../base/errors.ts';
import { createResampler, isSampleRate, type SampleRateHz } from './resample/resampler.ts';
import { MUSIC_RATE_HZ } from './session/holdMusic.ts';
import { parseWav, type WavFile } from './wav.ts';

const MIN_CLIP_MS = 100;
const MIN_RATE_HZ = 8000;
const MAX_RATE_HZ = 48_000;
/** Rates that our filters do not have are interpolated to this one first. */
const COMMON_RATE_HZ = 48_000;
/** The size of a chunk. Between two chunks the process does other work. */
const CHUNK_SAMPLES = 48_000;

/**
 * Converts a WAV file into what hold music is played from.
 *
 * @returns The samples at {@link MUSIC_RATE_HZ}.
 * @throws {CallwayError} 400 `wav_invalid`
 */
export async function toMusicClip(bytes: Uint8Array): Promise<Int16Array> {
  const wav = parseWav(bytes);
  const { sampleRateHz } = wav;
  if (sampleRateHz < MIN_RATE_HZ || sampleRateHz > MAX_RATE_HZ) {
    const range = `${MIN_RATE_HZ} to ${MAX_RATE_HZ}`;
    throw invalid('wav_invalid', `the WAV file has a sample rate of ${sampleRateHz} Hz; ${range} is needed`);
  }
  const length = Math.floor(wav.samples.length / wav.channels);
  if ((length * 1000) / sampleRateHz < MIN_CLIP_MS) {
    throw invalid('wav_invalid', `the WAV file is shorter than ${MIN_CLIP_MS} ms`);
  }
  const rateHz: SampleRateHz = isSampleRate(sampleRateHz) ? sampleRateHz : COMMON_RATE_HZ;
  const step = sampleRateHz / rateHz;
  const count = Math.floor((length - 1) / step) + 1;
  const resampler = createResampler(rateHz, MUSIC_RATE_HZ, CHUNK_SAMPLES);
  const clip = new Int16Array(Math.ceil((count * MUSIC_RATE_HZ) / rateHz) + CHUNK_SAMPLES);
  const chunk = new Int16Array(CHUNK_SAMPLES);
  let written = 0;
  for (let at = 0; at < count; at += CHUNK_SAMPLES) {
    const size = Math.min(CHUNK_SAMPLES, count - at);
    for (let n = 0; n < size; n++) chunk[n] = monoAt(wav, (at + n) * step);
    written += resampler.process(chunk.subarray(0, size), clip.subarray(written));
    await nextTurn();
  }
  return clip.subarray(0, written);
}

/** @param position - The position in frames; the value between two frames is interpolated. */
function monoAt(wav: WavFile, position: number): number {
  const index = Math.floor(position);
  const share = position - index;
  const here = frameAt(wav, index);
  return share === 0 ? here : Math.round(here * (1 - share) + frameAt(wav, index + 1) * share);
}

function frameAt({ samples, channels }: WavFile, index: number): number {
  const first = samples[index * channels] ?? 0;
  return channels === 1 ? first : (first + (samples[index * 2 + 1] ?? 0)) / 2;
}
