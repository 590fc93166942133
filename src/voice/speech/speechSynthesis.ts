import type { Clock } from '../../base/clock.ts';
import { linkAbort } from '../../base/linkedAbort.ts';
import { createWatchdog } from '../../base/watchdog.ts';
import { createResampler, isSampleRate, type SampleRateHz } from '../../media/resample/resampler.ts';
import { ModelError, type ModelErrorCode } from '../../providers/ports/modelError.ts';
import type { SynthesisRequest, TextToSpeech } from '../../providers/ports/textToSpeech.ts';
import { isAudible } from './leadingSilence.ts';
import type { SpeechCache } from './speechCache.ts';

/** Texts that are kept are short: what is said again and again. */
const LONGEST_CACHED_CHARACTERS = 300;
/** Pushes what the resampler's filters hold back out of them. */
const TAIL_MS = 5;
const PIECE_SAMPLES = 4800;
/** Nobody waits longer for a speaker's first sound where another one could speak. */
const FIRST_SOUND_MS = 4000;
/** Nor for that of the last one: what it was to say comes too late by then, and what follows may do better. */
const LAST_FIRST_SOUND_MS = 8000;
/** Speech is made faster than it is heard: a speaker that makes none for so long in the midst of a text has stopped. */
const NEXT_SOUND_MS = 4000;
/** A speaker that had to be stood in for is not tried again so soon: each sentence would come late. */
const REST_MS = 30_000;

/** Speech at one stream's rate. */
export interface SpeechSynthesis {
  /** @throws {ModelError} From a read, when no speaker could say it, or one broke off. */
  speak(request: SynthesisRequest, signal: AbortSignal): AsyncIterable<Int16Array>;
}

export interface SpeechSynthesisDeps {
  readonly textToSpeech: TextToSpeech;
  /** Speaks when the first one cannot; better another voice than none. */
  readonly fallback?: TextToSpeech | undefined;
  readonly cache: SpeechCache;
  readonly clock: Clock;
  /** Told of each failure that another attempt answers. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * Says texts from the cache, else by the speaker, else by the speaker once more, else by the other speaker. Speech that
 * nobody can hear is a failure too.
 *
 * @throws {RangeError} When the stream's rate is none that speech can be brought to.
 */
export function createSpeechSynthesis(deps: SpeechSynthesisDeps, sampleRateHz: number): SpeechSynthesis {
  if (!isSampleRate(sampleRateHz)) throw new RangeError(`speech cannot be brought to ${sampleRateHz} Hz`);
  const { textToSpeech, fallback, cache, clock } = deps;
  const speakers = [textToSpeech, textToSpeech, ...(fallback ? [fallback] : [])];
  let restsUntilMs = Number.NEGATIVE_INFINITY;
  const onFailed = (error: unknown, next: TextToSpeech | undefined, dueMs: number) => {
    deps.onFailure(error);
    const isGivenUp = next === fallback || clock.monotonicMs() >= dueMs;
    if (fallback && isGivenUp) restsUntilMs = clock.monotonicMs() + REST_MS;
  };
  return {
    async *speak(request, signal) {
      const dueMs = clock.monotonicMs() + FIRST_SOUND_MS;
      for (const [index, speaker] of speakers.entries()) {
        const isLast = index === speakers.length - 1;
        const nowMs = clock.monotonicMs();
        if (!isLast && nowMs < restsUntilMs) continue;
        const attempt: Attempt = {
          speak: (own) => speakBy(speaker, cache, request, sampleRateHz, own),
          limitMs: isLast || !fallback ? LAST_FIRST_SOUND_MS : dueMs - nowMs,
          hasBegun: false,
        };
        try {
          yield* heardOf(attempt, clock, signal);
          return;
        } catch (error) {
          signal.throwIfAborted();
          if (attempt.hasBegun || isLast) throw error;
          onFailed(error, speakers[index + 1], dueMs);
        }
      }
    },
  };
}

/** What one speaker makes of a text. */
interface Attempt {
  readonly speak: (signal: AbortSignal) => AsyncIterable<Int16Array>;
  /** Until the first sound. */
  readonly limitMs: number;
  /** Something of it can be heard. */
  hasBegun: boolean;
}

async function* heardOf(
  attempt: Attempt,
  clock: Clock,
  signal: AbortSignal,
): AsyncGenerator<Int16Array, void> {
  const { speak, limitMs } = attempt;
  const abort = linkAbort(signal);
  const giveUp = (message: string) => abort.abort(failed('model_unavailable', message));
  const timer = clock.setTimer(
    () => giveUp('The voice did not begin to speak in time'),
    Math.max(0, limitMs),
  );
  const watchdog = createWatchdog(clock, NEXT_SOUND_MS, () =>
    giveUp('The voice stopped in the middle of a text'),
  );
  try {
    for await (const samples of speak(abort.signal)) {
      watchdog.stop();
      attempt.hasBegun ||= isAudible(samples);
      if (attempt.hasBegun) timer.cancel();
      yield samples;
      if (attempt.hasBegun) watchdog.start();
    }
  } catch (error) {
    throw abort.signal.aborted ? abort.signal.reason : error;
  } finally {
    timer.cancel();
    watchdog.close();
    abort.unlink();
  }
  if (!attempt.hasBegun) throw failed('model_malformed', 'The voice said nothing that can be heard');
}

function failed(code: ModelErrorCode, message: string): ModelError {
  return new ModelError(code, message, { beforeFirstToken: true });
}

async function* speakBy(
  speaker: TextToSpeech,
  cache: SpeechCache,
  request: SynthesisRequest,
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
  if (isKept && made.some(isAudible)) cache.set(key, joined(made));
}

async function* resampled(
  speaker: TextToSpeech,
  request: SynthesisRequest,
  sampleRateHz: SampleRateHz,
  signal: AbortSignal,
): AsyncGenerator<Int16Array, void> {
  if (speaker.sampleRateHz === sampleRateHz) {
    yield* speaker.synthesize(request, signal);
    return;
  }
  const resampler = createResampler(speaker.sampleRateHz, sampleRateHz, PIECE_SAMPLES);
  const convert = (samples: Int16Array): Int16Array => {
    const output = new Int16Array(resampler.maxOutput(samples.length));
    return output.subarray(0, resampler.process(samples, output));
  };
  for await (const samples of speaker.synthesize(request, signal)) {
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
