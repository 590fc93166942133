import { LRUCache } from 'lru-cache';
import type { Clock } from '../../base/values/clock.ts';
import { concatenated } from '../../media/pcm16.ts';
import { createResampler, isSampleRate, type SampleRateHz } from '../../media/resample/resampler.ts';
import type { Breakers } from '../../models/failover/circuitBreaker.ts';
import type { Candidate, OnFallback } from '../../models/failover/failover.ts';
import { streamWithFailover } from '../../models/failover/streamWithFailover.ts';
import { asModelError, ModelError } from '../../models/ports/modelError.ts';
import type { SynthesisRequest, TextToSpeech } from '../../models/ports/textToSpeech.ts';

/** Half an hour of telephone speech. */
const CACHE_BYTES = 32 * 1024 * 1024;
/** The longest text that is cached; only short texts repeat. */
const MAX_CACHED_CHARACTERS = 300;
/** Flushes the resampler's filters. */
const RESAMPLER_TAIL_MS = 5;
const RESAMPLED_AT_ONCE = 4800;
/** Time to the first sound before the only other voice takes over. */
const FIRST_SOUND_TIMEOUT_MS = 4000;
/** The same where the agent names vendors that follow. */
const SLOW_MS = 1500;
/** The same for the last vendor: later than this the text is no longer worth saying. */
const LAST_FIRST_SOUND_TIMEOUT_MS = 8000;
/** Synthesis is faster than playout: a longer gap means that the vendor has stopped. */
const NEXT_SOUND_TIMEOUT_MS = 4000;

/** Below -54 dBFS a sample is inaudible on a telephone. */
const AUDIBLE = 64;
/** This much is kept before the first audible sample: a soft consonant starts there. */
const LEADING_SILENCE_MS = 20;

/** Synthesized speech by vendor, language, rate and text. Shared by all sessions of a node. */
export type SpeechCache = LRUCache<string, Int16Array>;

export function createSpeechCache(): SpeechCache {
  return new LRUCache({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ byteLength }) => byteLength,
  });
}

export interface SpeechSynthesisDeps {
  /** The first voice, and those that speak when it fails: another voice is better than silence. */
  readonly voices: readonly Candidate<TextToSpeech>[];
  readonly breakers?: Breakers | undefined;
  /** Separates cached speech whose vendor options differ from the installation's settings. */
  readonly cacheScope?: string;
  readonly onFallback?: OnFallback<TextToSpeech> | undefined;
  readonly cache: SpeechCache;
  readonly clock: Clock;
  /** Reports each failure that is followed by another attempt. */
  readonly onFailure: (error: unknown) => void;
}

type Sink = (samples: Int16Array) => void;
/** @param provider - The vendor that speaks. */
type SpeechSink = (samples: Int16Array, provider: string) => void;

/** Synthesizes speech at one stream's sample rate, with a cache, one retry and further voices. */
export class SpeechSynthesis {
  readonly #deps: SpeechSynthesisDeps;
  readonly #sampleRateHz: SampleRateHz;
  readonly #voices: readonly Candidate<TextToSpeech>[];

  /** @throws {RangeError} When speech cannot be resampled to this rate. */
  constructor(deps: SpeechSynthesisDeps, sampleRateHz: number) {
    if (!isSampleRate(sampleRateHz)) throw new RangeError(`speech cannot be resampled to ${sampleRateHz} Hz`);
    this.#deps = deps;
    this.#sampleRateHz = sampleRateHz;
    this.#voices = deps.voices.map((voice, index) => (index === 0 ? { ...voice, attempts: 2 } : voice));
  }

  /**
   * Speaks one text. Inaudible speech counts as a failure.
   *
   * @param onSamples - Called with each piece, which it may keep.
   * @throws {ModelError} When no vendor could speak the text, or one failed after its first sound.
   */
  async speak(request: SynthesisRequest, signal: AbortSignal, onSamples: SpeechSink): Promise<void> {
    const { clock, breakers, onFallback, onFailure } = this.#deps;
    const [first] = this.#voices;
    let provider = '';
    const pieces = streamWithFailover(
      {
        candidates: this.#voices,
        clock,
        breakers,
        onFallback,
        ask: (voice, attemptSignal) => {
          provider = voice.model.name;
          // Another vendor has other voices.
          const asked = voice === first ? request : { ...request, voice: undefined, model: undefined };
          return this.#synthesize(voice.model, asked, attemptSignal);
        },
        isOutput: (samples: Int16Array) => firstAudible(samples) >= 0,
        firstOutputMs: (voice, hasNext, waitedMs) =>
          hasNext ? this.#patienceMs(voice) - waitedMs : LAST_FIRST_SOUND_TIMEOUT_MS,
        gapMs: NEXT_SOUND_TIMEOUT_MS,
        late: (_timeoutMs, hasStarted) =>
          `The speech synthesis ${hasStarted ? 'stopped in the middle of a text' : 'did not start in time'}`,
        onRetry: onFailure,
      },
      signal,
    );
    for await (const samples of pieces) onSamples(samples, provider);
  }

  #patienceMs(voice: Candidate<TextToSpeech>): number {
    return voice === this.#voices[0] && this.#voices.length === 2 ? FIRST_SOUND_TIMEOUT_MS : SLOW_MS;
  }

  async *#synthesize(
    vendor: TextToSpeech,
    request: SynthesisRequest,
    signal: AbortSignal,
  ): AsyncGenerator<Int16Array, void> {
    const { cache, cacheScope } = this.#deps;
    const { text, language, voice, model, speed } = request;
    const spoken = [language, voice, model, speed, this.#sampleRateHz, text];
    const key = JSON.stringify([cacheScope, vendor.name, ...spoken]);
    const cached = cache.get(key);
    if (cached) {
      yield cached;
      return;
    }
    const isKept = vendor.isCacheable && text.length <= MAX_CACHED_CHARACTERS;
    const made: Int16Array[] = [];
    let hasSound = false;
    for await (const samples of resampled(vendor, request, this.#sampleRateHz, signal)) {
      hasSound ||= firstAudible(samples) >= 0;
      if (isKept) made.push(samples);
      yield samples;
    }
    if (!hasSound) throw new ModelError('model_malformed', 'The speech synthesis returned silence');
    if (isKept) cache.set(key, concatenated(made));
  }
}

/** The speech of a vendor at another rate. Whatever fails in it is a failure of the vendor. */
async function* resampled(
  vendor: TextToSpeech,
  request: SynthesisRequest,
  sampleRateHz: SampleRateHz,
  signal: AbortSignal,
): AsyncGenerator<Int16Array, void> {
  const ready: Int16Array[] = [];
  const resample = resamplerTo(sampleRateHz, vendor.sampleRateHz, (samples) => void ready.push(samples));
  try {
    for await (const samples of vendor.synthesize(request, signal)) {
      resample(samples);
      yield* ready.splice(0);
    }
  } catch (error) {
    throw asModelError(error);
  }
  if (vendor.sampleRateHz === sampleRateHz) return;
  resample(new Int16Array((vendor.sampleRateHz * RESAMPLER_TAIL_MS) / 1000));
  yield* ready;
}

/** @returns Passes samples on at the wanted rate. */
export function resamplerTo(outputRateHz: SampleRateHz, inputRateHz: SampleRateHz, push: Sink): Sink {
  if (inputRateHz === outputRateHz) return push;
  const resampler = createResampler(inputRateHz, outputRateHz, RESAMPLED_AT_ONCE);
  return (samples) => {
    for (let at = 0; at < samples.length; at += RESAMPLED_AT_ONCE) {
      const input = samples.subarray(at, at + RESAMPLED_AT_ONCE);
      const output = new Int16Array(resampler.maxOutput(input.length));
      push(output.subarray(0, resampler.process(input, output)));
    }
  };
}

/**
 * Removes the 50 to 200 ms of silence that synthetic voices start with.
 *
 * @returns The samples from shortly before the first audible one; none where no sample is audible.
 */
export function withoutLeadingSilence(samples: Int16Array, sampleRateHz: number): Int16Array {
  const first = firstAudible(samples);
  if (first < 0) return samples.subarray(samples.length);
  return samples.subarray(Math.max(0, first - (sampleRateHz * LEADING_SILENCE_MS) / 1000));
}

/** Index of the first audible sample; -1 where there is none. */
export function firstAudible(samples: Int16Array): number {
  return samples.findIndex((sample) => Math.abs(sample) >= AUDIBLE);
}
