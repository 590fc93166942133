import { createResampler, isSampleRate, type SampleRateHz } from '../media/resample/resampler.ts';
import type { SpeechRequest, TextToSpeech } from '../models/textToSpeech.ts';
import type { SpeechCache } from './speechCache.ts';

/** Texts that are kept are short: what is said again and again. */
const LONGEST_CACHED_CHARACTERS = 300;
/** Pushes what the resampler's filters hold back out of them. */
const TAIL_MS = 5;
const PIECE_SAMPLES = 4800;

/** Speech at one stream's rate. */
export interface SpeechSource {
  /** @throws {ModelError} From a read, when no speaker could say it, or one broke off. */
  speak(request: SpeechRequest, signal: AbortSignal): AsyncIterable<Int16Array>;
}

export interface SpeechSourceDeps {
  readonly textToSpeech: TextToSpeech;
  /** Speaks when the first one cannot; better another voice than none. */
  readonly fallback?: TextToSpeech | undefined;
  readonly cache: SpeechCache;
  /** Told of each failure that another attempt answers. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * Says texts from the cache, else by the speaker, else by the speaker once more, else by the other speaker.
 *
 * @throws {RangeError} When the stream's rate is none that speech can be brought to.
 */
export function createSpeechSource(deps: SpeechSourceDeps, sampleRateHz: number): SpeechSource {
  if (!isSampleRate(sampleRateHz)) throw new RangeError(`speech cannot be brought to ${sampleRateHz} Hz`);
  const { textToSpeech, fallback } = deps;
  const attempts = [textToSpeech, textToSpeech, ...(fallback ? [fallback] : [])];
  return {
    async *speak(request, signal) {
      for (const [index, speaker] of attempts.entries()) {
        let hasBegun = false;
        try {
          for await (const samples of speakBy(speaker, deps.cache, request, sampleRateHz, signal)) {
            hasBegun = true;
            yield samples;
          }
          return;
        } catch (error) {
          signal.throwIfAborted();
          if (hasBegun || index === attempts.length - 1) throw error;
          deps.onFailure(error);
        }
      }
    },
  };
}

async function* speakBy(
  speaker: TextToSpeech,
  cache: SpeechCache,
  request: SpeechRequest,
  sampleRateHz: SampleRateHz,
  signal: AbortSignal,
): AsyncGenerator<Int16Array, void> {
  const { text, voice = '', language = '' } = request;
  const key = [speaker.name, voice, language, sampleRateHz, text].join('|');
  const cached = cache.get(key);
  if (cached) {
    yield cached;
    return;
  }
  const made: Int16Array[] = [];
  const isKept = speaker.isCacheable && text.length <= LONGEST_CACHED_CHARACTERS;
  for await (const samples of resampled(speaker, request, sampleRateHz, signal)) {
    if (isKept) made.push(samples);
    yield samples;
  }
  if (isKept && made.length > 0) cache.set(key, joined(made));
}

async function* resampled(
  speaker: TextToSpeech,
  request: SpeechRequest,
  sampleRateHz: SampleRateHz,
  signal: AbortSignal,
): AsyncGenerator<Int16Array, void> {
  if (speaker.sampleRateHz === sampleRateHz) {
    yield* speaker.speak(request, signal);
    return;
  }
  const resampler = createResampler(speaker.sampleRateHz, sampleRateHz, PIECE_SAMPLES);
  const convert = (samples: Int16Array): Int16Array => {
    const output = new Int16Array(resampler.maxOutput(samples.length));
    return output.subarray(0, resampler.process(samples, output));
  };
  for await (const samples of speaker.speak(request, signal)) {
    for (let at = 0; at < samples.length; at += PIECE_SAMPLES) {
      yield convert(samples.subarray(at, at + PIECE_SAMPLES));
    }
  }
  yield convert(new Int16Array((speaker.sampleRateHz * TAIL_MS) / 1000));
}

function joined(pieces: readonly Int16Array[]): Int16Array {
  const all = new Int16Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}
