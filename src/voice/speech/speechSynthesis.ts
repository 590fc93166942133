import { LRUCache } from 'lru-cache';
import { type LinkedAbort, linkAbort } from '../../base/async/linkedAbort.ts';
import type { Clock, Timer } from '../../base/values/clock.ts';
import { concatenated } from '../../media/pcm16.ts';
import { createResampler, isSampleRate, type SampleRateHz } from '../../media/resample/resampler.ts';
import { ModelError, type ModelErrorCode } from '../../models/ports/modelError.ts';
import type { SynthesisRequest, TextToSpeech } from '../../models/ports/textToSpeech.ts';

/** Half an hour of telephone speech. */
const CACHE_BYTES = 32 * 1024 * 1024;
/** The longest text that is cached; only short texts repeat. */
const MAX_CACHED_CHARACTERS = 300;
/** Flushes the resampler's filters. */
const RESAMPLER_TAIL_MS = 5;
const RESAMPLED_AT_ONCE = 4800;
/** Time to the first sound before the fallback vendor takes over. */
const FIRST_SOUND_TIMEOUT_MS = 4000;
/** The same where the agent names vendors that follow. */
const SLOW_MS = 1500;
/** The same for the last vendor: later than this the text is no longer worth saying. */
const LAST_FIRST_SOUND_TIMEOUT_MS = 8000;
/** Synthesis is faster than playout: a longer gap means that the vendor has stopped. */
const NEXT_SOUND_TIMEOUT_MS = 4000;
/** The first vendor is skipped this long after a failover; otherwise each sentence would be late. */
const SKIP_FAILED_MS = 30_000;

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
  readonly textToSpeech: TextToSpeech;
  /** Speak when the first vendor fails, in this order: another voice is better than silence. */
  readonly fallbacks?: readonly TextToSpeech[] | undefined;
  /** Separates cached speech whose vendor options differ from the installation's settings. */
  readonly cacheScope?: string;
  /** A vendor that is not is skipped, unless it is the last one. */
  readonly isWorking?: (vendor: TextToSpeech) => boolean;
  /** A vendor has spoken, or failed. */
  readonly onVendor?: (vendor: TextToSpeech, error: unknown) => void;
  /** A vendor was left for the next one. */
  readonly onFallback?: (from: string, to: string, error: unknown) => void;
  readonly cache: SpeechCache;
  readonly clock: Clock;
  /** Reports each failure that is followed by another attempt. */
  readonly onFailure: (error: unknown) => void;
}

type Sink = (samples: Int16Array) => void;
/** @param provider - The vendor that speaks. */
type SpeechSink = (samples: Int16Array, provider: string) => void;

/** Synthesizes speech at one stream's sample rate, with a cache, one retry and a fallback vendor. */
export class SpeechSynthesis {
  readonly #deps: SpeechSynthesisDeps;
  readonly #sampleRateHz: SampleRateHz;
  /** The vendors in the order of the attempts. */
  readonly #vendors: readonly TextToSpeech[];
  #skipUntilMs = Number.NEGATIVE_INFINITY;

  /** @throws {RangeError} When speech cannot be resampled to this rate. */
  constructor(deps: SpeechSynthesisDeps, sampleRateHz: number) {
    if (!isSampleRate(sampleRateHz)) throw new RangeError(`speech cannot be resampled to ${sampleRateHz} Hz`);
    this.#deps = deps;
    this.#sampleRateHz = sampleRateHz;
    const { textToSpeech, fallbacks = [] } = deps;
    this.#vendors = [textToSpeech, textToSpeech, ...fallbacks];
  }

  /**
   * Speaks one text. Inaudible speech counts as a failure.
   *
   * @param onSamples - Called with each piece, which it may keep.
   * @throws {ModelError} When no vendor could speak the text, or one failed after its first sound.
   */
  async speak(request: SynthesisRequest, signal: AbortSignal, onSamples: SpeechSink): Promise<void> {
    const { clock, fallbacks = [], onVendor } = this.#deps;
    const patienceMs = fallbacks.length > 1 ? SLOW_MS : FIRST_SOUND_TIMEOUT_MS;
    const dueMs = clock.monotonicMs() + patienceMs;
    for (const [index, vendor] of this.#vendors.entries()) {
      const isLast = index === this.#vendors.length - 1;
      if (!isLast && this.#isSkipped(vendor)) continue;
      const isOnly = isLast || fallbacks.length === 0;
      const timeoutMs = isOnly ? LAST_FIRST_SOUND_TIMEOUT_MS : this.#timeoutMs(vendor, dueMs);
      const asked = fallbacks.includes(vendor) ? withoutVoice(request) : request;
      const failed = await this.#attempt(vendor, asked, {
        timeoutMs,
        signal,
        onSamples: (samples) => onSamples(samples, vendor.name),
      });
      const next = this.#vendors[index + 1];
      if (!failed || next !== vendor) onVendor?.(vendor, failed?.error);
      if (!failed) return;
      if (failed.hasSound || isLast) throw failed.error;
      this.#leave(vendor, next, failed.error, clock.monotonicMs() >= dueMs);
    }
  }

  #isSkipped(vendor: TextToSpeech): boolean {
    const { textToSpeech, clock, isWorking } = this.#deps;
    if (vendor === textToSpeech && clock.monotonicMs() < this.#skipUntilMs) return true;
    return isWorking?.(vendor) === false;
  }

  #timeoutMs(vendor: TextToSpeech, dueMs: number): number {
    const { textToSpeech, clock } = this.#deps;
    return vendor === textToSpeech ? dueMs - clock.monotonicMs() : SLOW_MS;
  }

  /** @param isLate - Whether no time is left for another attempt. */
  #leave(vendor: TextToSpeech, next: TextToSpeech | undefined, error: unknown, isLate: boolean): void {
    const { textToSpeech, fallbacks: [fallback] = [], clock, onFailure, onFallback } = this.#deps;
    onFailure(error);
    if (next && next !== vendor) onFallback?.(vendor.name, next.name, error);
    if (!fallback || vendor !== textToSpeech || (next !== fallback && !isLate)) return;
    this.#skipUntilMs = clock.monotonicMs() + SKIP_FAILED_MS;
  }

  /**
   * @returns The error that the vendor failed with; undefined when it spoke the whole text. @throws The signal's
   *   reason, once it is aborted.
   */
  async #attempt(
    vendor: TextToSpeech,
    request: SynthesisRequest,
    options: AttemptOptions,
  ): Promise<{ readonly error: unknown; readonly hasSound: boolean } | undefined> {
    const attempt = new Attempt(this.#deps.clock, options);
    try {
      await this.#synthesize(vendor, request, attempt);
      if (!attempt.hasSound) throw failure('model_malformed', 'The speech synthesis returned silence');
      return undefined;
    } catch (error) {
      options.signal.throwIfAborted();
      const { signal, hasSound } = attempt;
      return { error: signal.aborted ? signal.reason : error, hasSound };
    } finally {
      attempt.close();
    }
  }

  async #synthesize(vendor: TextToSpeech, request: SynthesisRequest, attempt: Attempt): Promise<void> {
    const { cache } = this.#deps;
    const { text, language, voice, model, speed } = request;
    const { cacheScope } = this.#deps;
    const spoken = [language, voice, model, speed, this.#sampleRateHz, text];
    const key = JSON.stringify([cacheScope, vendor.name, ...spoken]);
    const cached = cache.get(key);
    if (cached) {
      attempt.push(cached);
      return;
    }
    const isKept = vendor.isCacheable && text.length <= MAX_CACHED_CHARACTERS;
    const made: Int16Array[] = [];
    const push = (samples: Int16Array) => {
      if (isKept) made.push(samples);
      attempt.push(samples);
    };
    const resample = resamplerTo(this.#sampleRateHz, vendor.sampleRateHz, push);
    for await (const samples of vendor.synthesize(request, attempt.signal)) resample(samples);
    if (vendor.sampleRateHz !== this.#sampleRateHz)
      resample(new Int16Array((vendor.sampleRateHz * RESAMPLER_TAIL_MS) / 1000));
    if (isKept && attempt.hasSound) cache.set(key, concatenated(made));
  }
}

interface AttemptOptions {
  /** The timeout of the first sound. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly onSamples: Sink;
}

/** One vendor's attempt at a text: passes its samples on and aborts it when they are late. */
class Attempt {
  readonly #clock: Clock;
  readonly #abort: LinkedAbort;
  readonly #onSamples: Sink;
  #timer: Timer | undefined;
  /** Whether an audible sample has come. */
  hasSound = false;

  constructor(clock: Clock, { timeoutMs, signal, onSamples }: AttemptOptions) {
    this.#clock = clock;
    this.#abort = linkAbort(signal);
    this.#onSamples = onSamples;
    this.#abortAfter(Math.max(0, timeoutMs), 'The speech synthesis did not start in time');
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  push(samples: Int16Array): void {
    this.hasSound ||= firstAudible(samples) >= 0;
    this.#onSamples(samples);
    if (this.hasSound)
      this.#abortAfter(NEXT_SOUND_TIMEOUT_MS, 'The speech synthesis stopped in the middle of a text');
  }

  close(): void {
    this.#timer?.cancel();
    this.#abort.unlink();
  }

  #abortAfter(delayMs: number, message: string): void {
    this.#timer?.cancel();
    const abort = () => this.#abort.abort(failure('model_unavailable', message));
    this.#timer = this.#clock.setTimer(abort, delayMs);
  }
}

/** Another vendor has other voices. */
function withoutVoice({ text, language, speed }: SynthesisRequest): SynthesisRequest {
  return { text, language, speed };
}

function failure(code: ModelErrorCode, message: string): ModelError {
  return new ModelError(code, message, { beforeFirstToken: true });
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
