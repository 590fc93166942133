import { spawnSync } from 'node:child_process';
import { concatenated } from '../../src/media/pcm16.ts';
import { atRate } from '../../src/media/resample/resampler.ts';
import { parseWav, pickChannel } from '../../src/media/wav.ts';
import { phrasesOf } from './phrases.ts';
import type { Utterance } from './set.ts';

export const RATE_HZ = 8000;
const ESPEAK_RATE_HZ = 22_050;
const RESAMPLED_FROM_HZ = 24_000;
/** Below it the voice is not heard. */
const AUDIBLE = 150;
const LEVEL_PEAK = 9000;

/** One segment's audio, from its first audible sample to its last. */
export function speak(utterance: Utterance, text: string): Int16Array {
  return espeak(phrasesOf(utterance.language, utterance.isHeldOut).voice, utterance.pace, text);
}

/** A text by a voice of espeak-ng, from the first audible sample to the last. @param pace - Words per minute. */
export function espeak(voice: string, pace: number, text: string): Int16Array {
  const args = ['--stdout', '-v', voice, '-s', String(pace), text];
  const { stdout, error, stderr } = spawnSync('espeak-ng', args, { maxBuffer: 64 * 1024 * 1024 });
  if (error || stdout.length === 0)
    throw new Error(`espeak-ng is needed (Debian: apt-get install espeak-ng): ${error ?? stderr}`);
  const wav = parseWav(stdout);
  if (wav.sampleRateHz !== ESPEAK_RATE_HZ) throw new Error(`espeak-ng speaks at ${wav.sampleRateHz} Hz`);
  return levelled(atRate(stretched(pickChannel(wav, 0)), RESAMPLED_FROM_HZ, RATE_HZ));
}

/** From 22,050 Hz to 24,000 Hz, linearly: enough for telephone speech. */
function stretched(samples: Int16Array): Int16Array {
  const ratio = ESPEAK_RATE_HZ / RESAMPLED_FROM_HZ;
  return new Int16Array(Math.floor(samples.length / ratio)).map((_, index) => {
    const at = index * ratio;
    const before = samples[Math.floor(at)] ?? 0;
    const after = samples[Math.floor(at) + 1] ?? 0;
    return before + (at % 1) * (after - before);
  });
}

/** The audible part of a recording, at the level of all voices. */
export function levelled(samples: Int16Array): Int16Array {
  const peak = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 1);
  return audible(samples.map((sample) => (sample * LEVEL_PEAK) / peak));
}

function audible(samples: Int16Array): Int16Array {
  const isHeard = (sample: number) => Math.abs(sample) >= AUDIBLE;
  return concatenated([samples.slice(samples.findIndex(isHeard), samples.findLastIndex(isHeard) + 1)]);
}
