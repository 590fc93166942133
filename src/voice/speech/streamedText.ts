import { linkAbort } from '../../base/async/linkedAbort.ts';
import type { Clock, Timer } from '../../base/values/clock.ts';
import { isSpoken, WORD } from '../../conversation/speech/editedText.ts';
import {
  estimatedMs,
  lastWordEnd,
  speakableEnd,
  spokenForm,
  startsLineAt,
} from '../../conversation/speech/spokenText.ts';
import type { WrittenText } from '../../conversation/speech/writtenText.ts';
import type { SampleRateHz } from '../../media/resample/resampler.ts';
import { ModelError } from '../../models/ports/modelError.ts';
import type { TimedWord } from '../../models/ports/streamingSpeechToText.ts';
import type {
  StreamingTextToSpeech,
  SynthesisConnection,
  SynthesisEvent,
  SynthesisStream,
} from '../../models/ports/streamingTextToSpeech.ts';
import type { AgentVoice } from '../../models/ports/textToSpeech.ts';
import { firstAudible, resamplerTo } from './speechSynthesis.ts';
import {
  type StreamedTextEvent,
  type StreamedTextState,
  streamedTextTransition,
} from './streamedTextState.ts';

/** The longest time from the first words to their sound, and between two sounds of a text that is complete. */
const SOUND_TIMEOUT_MS = 1500;
/** Speech that is asked for ahead of what is heard: an interruption wastes no more. */
const LOOKAHEAD_MS = 8000;
/** A vendor that is this far ahead is held back. */
const MAX_AHEAD_MS = 2 * LOOKAHEAD_MS;
/** A vendor that says nothing for this long has said all that it was given. */
const QUIET_MS = 500;
/** A quiet vendor gets more text when less than this is left to play. */
const LOW_MS = 2000;
const RECHECK_MS = 200;
/** Written at once at least. */
const CHUNK_CHARACTERS = 40;
/** A vendor that speaks more slowly than this sends noise. */
const MAX_SECONDS_PER_CHARACTER = 1;
const MAX_EXTRA_SECONDS = 10;

/** Takes the speech of one text. */
export interface SpeechSink {
  /** @param provider - The vendor that speaks. */
  readonly onSamples: (samples: Int16Array, provider: string) => void;
  /** Times from the text's first sample; words as they are written. */
  readonly onWords: (words: readonly TimedWord[]) => void;
  /** The samples that follow are of the text from here on, without word times. */
  readonly onFallback?: (from: number) => void;
  /** How much of the sound is still to be heard; undefined where nothing is played yet. */
  readonly aheadMs?: () => number;
}

export interface StreamedTextDeps {
  readonly textToSpeech: StreamingTextToSpeech;
  readonly clock: Clock;
}

/** One text at the vendor, which is given words as they are needed. @see streamedTextTransition */
export class StreamedText {
  readonly #deps: StreamedTextDeps;
  readonly #text: WrittenText;
  readonly #voice: AgentVoice;
  readonly #sink: SpeechSink;
  readonly #resample: (samples: Int16Array) => void;
  #written = 0;
  /** The estimated length of the speech of all written text. */
  #writtenMs = 0;
  /** The part of `#writtenMs` that is known to have sounded. */
  #soundedMs = 0;
  #state: StreamedTextState = 'opening';
  #lengthMs = 0;
  #hasSound = false;
  #activeAtMs = 0;
  #soundTimer: Timer | undefined;
  #recheck: Timer | undefined;
  #words: readonly TimedWord[] = [];
  /** The written words that are said with each word that the vendor says. */
  #writtenWords: readonly number[] = [];
  #saidWords = 0;
  #stream: SynthesisStream | undefined;
  #settle: (error: unknown) => void = () => undefined;

  constructor(
    deps: StreamedTextDeps,
    sampleRateHz: SampleRateHz,
    text: WrittenText,
    voice: AgentVoice,
    sink: SpeechSink,
  ) {
    this.#deps = deps;
    this.#text = text;
    this.#voice = voice;
    this.#sink = sink;
    const { name } = deps.textToSpeech;
    const push = (samples: Int16Array) => sink.onSamples(samples, name);
    this.#resample = resamplerTo(sampleRateHz, deps.textToSpeech.sampleRateHz, push);
  }

  /** How much of the text the sound covers, by its words' times, or by its length. */
  get spokenCharacters(): number {
    if (!this.#hasSound) return 0;
    const text = this.#text.text.slice(0, this.#written);
    const said = this.#words.filter(({ endMs }) => endMs <= this.#lengthMs).length;
    if (said > 0)
      return [...text.matchAll(WORD)].filter(([word]) => isSpoken(word))[said]?.index ?? this.#written;
    const share = Math.min(1, this.#lengthMs / Math.max(1, this.#writtenMs));
    return share === 1 ? this.#written : lastWordEnd(text.slice(0, Math.floor(share * text.length)));
  }

  /** @returns The error of a vendor that has failed. @throws The signal's reason. */
  async run(connection: SynthesisConnection, signal: AbortSignal): Promise<unknown> {
    const abort = linkAbort(signal);
    const { pronunciations: _, ...voice } = this.#voice;
    try {
      const failed = await new Promise<unknown>((resolve) => {
        this.#settle = resolve;
        const stream = connection.speak(voice, (event) => this.#onEvent(event));
        this.#stream = stream;
        abort.signal.addEventListener('abort', () => {
          stream.cancel();
          resolve(abort.signal.reason);
        });
        if (abort.signal.aborted) resolve(abort.signal.reason);
        else this.#text.follow(() => this.#write(stream));
      });
      signal.throwIfAborted();
      return failed;
    } finally {
      this.#soundTimer?.cancel();
      this.#recheck?.cancel();
      this.#text.follow(() => undefined);
      // Also cancels what a vendor that is late still says.
      abort.abort(new Error('the text is over'));
      abort.unlink();
    }
  }

  /** Sends the words that are whole and needed. */
  #write(stream: SynthesisStream): void {
    const { text, isComplete } = this.#text;
    const { pronunciations } = this.#voice;
    const end = isComplete ? text.length : speakableEnd(text, this.#written, pronunciations);
    while (this.#written < end) {
      if (this.#isAhead()) {
        this.#recheckSoon();
        return;
      }
      this.#writePart(stream, nextPart(text, this.#written, end, pronunciations));
    }
    if (!isComplete || this.#isEnded) return;
    this.#apply('text_ended');
    if (this.#writtenWords.length > 0) stream.end();
    else this.#settle(undefined);
  }

  #writePart(stream: SynthesisStream, end: number): void {
    const { text } = this.#text;
    const startsLine = startsLineAt(text, this.#written);
    const part = text.slice(this.#written, end);
    const said = spokenForm(part, { ...this.#voice, startsLine });
    this.#written = end;
    this.#writtenMs += estimatedMs(part, this.#voice.speed);
    this.#activeAtMs = this.#deps.clock.monotonicMs();
    this.#writtenWords = [...this.#writtenWords, ...said.writtenWords];
    if (said.text.trim() === '') return;
    stream.write(said.text);
    // A vendor waits for the rest of a sentence, but not for the next one.
    const isEnough = this.#written >= 2 * CHUNK_CHARACTERS || /[.!?。！？]\s*$/u.test(part);
    if (isEnough && this.#writtenWords.length > 0) this.#apply('enough_written');
  }

  /** Whether enough is to be heard, or asked for. */
  #isAhead(): boolean {
    const aheadMs = this.#sink.aheadMs?.() ?? 0;
    const quietMs = this.#deps.clock.monotonicMs() - this.#activeAtMs;
    if (this.#lengthMs > 0 && aheadMs < LOW_MS && quietMs > QUIET_MS) this.#soundedMs = this.#writtenMs;
    const askedMs = Math.max(0, this.#writtenMs - Math.max(this.#soundedMs, this.#lengthMs));
    return aheadMs + askedMs > LOOKAHEAD_MS;
  }

  /** Checks again until more text or speech is needed. */
  #recheckSoon(): void {
    this.#recheck?.cancel();
    this.#recheck = this.#deps.clock.setTimer(() => {
      if (!this.#stream) return;
      if (this.#isHeld && (this.#sink.aheadMs?.() ?? 0) < LOOKAHEAD_MS) {
        this.#apply('needed_again');
        this.#stream.resume();
      }
      this.#write(this.#stream);
      if (this.#isHeld) this.#recheckSoon();
    }, RECHECK_MS);
  }

  #onEvent(event: SynthesisEvent): void {
    switch (event.type) {
      case 'samples':
        this.#onSamples(event.samples);
        return;
      case 'words':
        this.#onWords(event.words);
        return;
      case 'done':
        this.#settle(this.#hasSound ? undefined : this.#failure('model_malformed', 'returned silence'));
        return;
      case 'failed':
        this.#settle(event.error);
    }
  }

  #onWords(said: readonly TimedWord[]): void {
    const written: TimedWord[] = [];
    for (const word of said) {
      if (!isSpoken(word.word)) continue;
      const count = this.#writtenWords[this.#saidWords] ?? 1;
      this.#saidWords += 1;
      for (let n = 0; n < count; n++) written.push(word);
    }
    this.#words = [...this.#words, ...written];
    this.#sink.onWords(written);
  }

  #onSamples(samples: Int16Array): void {
    const { sampleRateHz } = this.#deps.textToSpeech;
    this.#lengthMs += (samples.length * 1000) / sampleRateHz;
    this.#activeAtMs = this.#deps.clock.monotonicMs();
    const maxMs = (this.#written * MAX_SECONDS_PER_CHARACTER + MAX_EXTRA_SECONDS) * 1000;
    if (this.#lengthMs > maxMs) {
      this.#settle(this.#failure('model_malformed', 'does not end'));
      return;
    }
    this.#hasSound ||= firstAudible(samples) >= 0;
    if (this.#isEnded || this.#hasSound) this.#apply('sound');
    this.#resample(samples);
    if (this.#isHeld || (this.#sink.aheadMs?.() ?? 0) < MAX_AHEAD_MS) return;
    this.#apply('far_ahead');
    this.#stream?.pause();
    this.#recheckSoon();
  }

  /** Whether the whole text was written. */
  get #isEnded(): boolean {
    return this.#state === 'ending' || this.#state === 'held_ending';
  }

  get #isHeld(): boolean {
    return this.#state === 'held' || this.#state === 'held_ending';
  }

  #apply(event: StreamedTextEvent): void {
    const { state, wait } = streamedTextTransition(this.#state, event);
    this.#state = state;
    if (wait) this.#soundTimer?.cancel();
    if (wait !== 'begin') return;
    const problem = state === 'due' ? 'did not start in time' : 'stopped in the middle of a text';
    const expire = () => this.#settle(this.#failure('model_unavailable', problem));
    this.#soundTimer = this.#deps.clock.setTimer(expire, SOUND_TIMEOUT_MS);
  }

  #failure(code: 'model_malformed' | 'model_unavailable', problem: string): ModelError {
    return new ModelError(code, `${this.#deps.textToSpeech.name} ${problem}`);
  }
}

/** End of the next part of what may be spoken: some words. */
function nextPart(
  text: string,
  from: number,
  end: number,
  pronunciations: AgentVoice['pronunciations'],
): number {
  for (let to = from + CHUNK_CHARACTERS; to < end; to += CHUNK_CHARACTERS) {
    const part = speakableEnd(text.slice(0, to), from, pronunciations);
    if (part > from) return part;
  }
  return end;
}
