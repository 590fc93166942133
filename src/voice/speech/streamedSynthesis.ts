import { type LinkedAbort, linkAbort } from '../../base/async/linkedAbort.ts';
import type { Clock, Timer } from '../../base/clock.ts';
import { isSampleRate, type SampleRateHz } from '../../media/resample/resampler.ts';
import { ModelError } from '../../providers/ports/modelError.ts';
import type { TimedWord } from '../../providers/ports/streamingSpeechToText.ts';
import type {
  StreamingTextToSpeech,
  SynthesisConnection,
  SynthesisEvent,
} from '../../providers/ports/streamingTextToSpeech.ts';
import type { SpokenVoice } from '../../providers/ports/textToSpeech.ts';
import { createSentenceSplitter, isSpeakable, speakable } from './sentenceSplitter.ts';
import { firstAudible, resamplerTo, type SpeechSynthesis } from './speechSynthesis.ts';
import type { WrittenText } from './writtenText.ts';

/** From the first words to their sound, and between two sounds of a text that is complete. */
const SOUND_TIMEOUT_MS = 1500;
/** A vendor that speaks more slowly than this sends noise. */
const MAX_SECONDS_PER_CHARACTER = 1;
const MAX_EXTRA_SECONDS = 10;

export interface StreamedSynthesisDeps {
  readonly textToSpeech: StreamingTextToSpeech;
  /** Speaks what the vendor does not, sentence by sentence. */
  readonly fallback: SpeechSynthesis;
  readonly clock: Clock;
  /** A text goes on with the fallback. */
  readonly onFailure: (error: unknown) => void;
}

/** Takes the speech of one text. */
export interface SpeechSink {
  /** @param provider - The vendor that speaks. */
  readonly onSamples: (samples: Int16Array, provider: string) => void;
  /** Times from the text's first sample. */
  readonly onWords: (words: readonly TimedWord[]) => void;
}

/** Speaks texts while they are written, over one call's connection to a vendor. */
export class StreamedSynthesis {
  readonly #deps: StreamedSynthesisDeps;
  readonly #sampleRateHz: SampleRateHz;
  readonly #connection: SynthesisConnection;

  /** @throws {RangeError} When speech cannot be resampled to this rate. */
  constructor(deps: StreamedSynthesisDeps, sampleRateHz: number) {
    if (!isSampleRate(sampleRateHz)) throw new RangeError(`speech cannot be resampled to ${sampleRateHz} Hz`);
    this.#deps = deps;
    this.#sampleRateHz = sampleRateHz;
    this.#connection = deps.textToSpeech.connect();
  }

  /**
   * Speaks one text to its end. Where the vendor fails, the fallback says what was not said yet.
   *
   * @throws {ModelError} When the fallback fails too; the signal's reason once it is aborted.
   */
  async speak(text: WrittenText, voice: SpokenVoice, signal: AbortSignal, sink: SpeechSink): Promise<void> {
    const attempt = new StreamedText(this.#deps, this.#sampleRateHz, text, sink);
    const failed = await attempt.run(this.#connection, voice, signal);
    if (!failed) return;
    this.#deps.onFailure(failed);
    await this.#speakRest(text, attempt.spokenCharacters, voice, signal, sink);
  }

  close(): void {
    this.#connection.close();
  }

  async #speakRest(
    text: WrittenText,
    spokenCharacters: number,
    voice: SpokenVoice,
    signal: AbortSignal,
    { onSamples }: SpeechSink,
  ): Promise<void> {
    const splitter = createSentenceSplitter();
    let from = spokenCharacters;
    for (;;) {
      const pieces = splitter.push(text.text.slice(from));
      from = text.text.length;
      const { isComplete } = text;
      if (isComplete) pieces.push(...splitter.flush());
      for (const piece of pieces.map(speakable).filter(isSpeakable))
        await this.#deps.fallback.speak({ text: piece, ...withLanguage(voice) }, signal, onSamples);
      if (isComplete && from === text.text.length) return;
      await changed(text, from, signal);
    }
  }
}

/** One text at the vendor. */
class StreamedText {
  readonly #deps: StreamedSynthesisDeps;
  readonly #text: WrittenText;
  readonly #sink: SpeechSink;
  readonly #resample: (samples: Int16Array) => void;
  #written = 0;
  #lengthMs = 0;
  #hasSound = false;
  #timer: Timer | undefined;
  #words: readonly TimedWord[] = [];
  #settle: (error: unknown) => void = () => undefined;

  constructor(deps: StreamedSynthesisDeps, sampleRateHz: SampleRateHz, text: WrittenText, sink: SpeechSink) {
    this.#deps = deps;
    this.#text = text;
    this.#sink = sink;
    const { name, sampleRateHz: vendorRateHz } = deps.textToSpeech;
    const onSamples = (samples: Int16Array) => sink.onSamples(samples, name);
    this.#resample = resamplerTo(sampleRateHz, vendorRateHz, onSamples);
  }

  /** How much of the text the sound covers, by its words' times, or by its length. */
  get spokenCharacters(): number {
    if (!this.#hasSound) return 0;
    const { text } = this.#text;
    const spoken = this.#words.filter(({ endMs }) => endMs <= this.#lengthMs).length;
    const words = [...text.matchAll(/\S+\s*/g)];
    if (spoken === 0) return text.length;
    const next = words[spoken];
    return next ? next.index : text.length;
  }

  /** @returns The error of a vendor that has failed. @throws The signal's reason. */
  async run(connection: SynthesisConnection, voice: SpokenVoice, signal: AbortSignal): Promise<unknown> {
    const abort: LinkedAbort = linkAbort(signal);
    try {
      const failed = await new Promise<unknown>((resolve) => {
        this.#settle = resolve;
        const stream = connection.speak(voice, (event) => this.#onEvent(event));
        abort.signal.addEventListener('abort', () => {
          stream.cancel();
          resolve(abort.signal.reason);
        });
        this.#text.follow(() => this.#write(stream));
      });
      signal.throwIfAborted();
      return failed;
    } finally {
      this.#timer?.cancel();
      this.#text.follow(() => undefined);
      // Also cancels what a vendor that is late still says.
      abort.abort(new Error('the text is over'));
      abort.unlink();
    }
  }

  /** Sends the words that are whole. */
  #write(stream: { write(text: string): void; end(): void }): void {
    const { text, isComplete } = this.#text;
    const end = isComplete ? text.length : lastWordEnd(text);
    if (end > this.#written) {
      const words = spokenForm(text.slice(this.#written, end));
      this.#written = end;
      if (words.trim() !== '') {
        stream.write(words);
        if (!this.#hasSound && isSpeakable(words)) this.#expectSound('did not start in time');
      }
    }
    if (!isComplete) return;
    if (isSpeakable(text)) {
      stream.end();
      this.#expectSound('stopped in the middle of a text');
    } else this.#settle(undefined);
  }

  #onEvent(event: SynthesisEvent): void {
    switch (event.type) {
      case 'samples':
        this.#onSamples(event.samples);
        return;
      case 'words':
        this.#words = [...this.#words, ...event.words];
        this.#sink.onWords(event.words);
        return;
      case 'done':
        this.#settle(this.#hasSound ? undefined : this.#failure('model_malformed', 'returned silence'));
        return;
      case 'failed':
        this.#settle(event.error);
    }
  }

  #onSamples(samples: Int16Array): void {
    const { sampleRateHz } = this.#deps.textToSpeech;
    this.#lengthMs += (samples.length * 1000) / sampleRateHz;
    const maxMs = (this.#text.text.length * MAX_SECONDS_PER_CHARACTER + MAX_EXTRA_SECONDS) * 1000;
    if (this.#lengthMs > maxMs) {
      this.#settle(this.#failure('model_malformed', 'does not end'));
      return;
    }
    this.#hasSound ||= firstAudible(samples) >= 0;
    if (this.#text.isComplete) this.#expectSound('stopped in the middle of a text');
    else if (this.#hasSound) this.#timer?.cancel();
    this.#resample(samples);
  }

  #expectSound(problem: string): void {
    this.#timer?.cancel();
    const expire = () => this.#settle(this.#failure('model_unavailable', problem));
    this.#timer = this.#deps.clock.setTimer(expire, SOUND_TIMEOUT_MS);
  }

  #failure(code: 'model_malformed' | 'model_unavailable', problem: string): ModelError {
    return new ModelError(code, `${this.#deps.textToSpeech.name} ${problem}`);
  }
}

function withLanguage({ language }: SpokenVoice): { readonly language?: string } {
  return language === undefined ? {} : { language };
}

/** End of the last whole word: what follows a space, or a character of a script without spaces. */
function lastWordEnd(text: string): number {
  const match =
    /[\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}。！？；，、](?=[^\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}。！？；，、]*$)/u.exec(
      text,
    );
  return match ? match.index + match[0].length : 0;
}

/** Without Markdown; the spaces around the words stay. */
function spokenForm(text: string): string {
  const words = speakable(text);
  const [before = ''] = /^\s*/.exec(text) ?? [];
  const [after = ''] = /\s*$/.exec(text) ?? [];
  return `${before === '' ? '' : ' '}${words}${after === '' ? '' : ' '}`;
}

/** Waits until the text grows beyond a length, or is complete. @throws The signal's reason. */
function changed(text: WrittenText, length: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    if (signal.aborted) reject(signal.reason);
    text.follow(() => {
      if (text.text.length > length || text.isComplete) resolve();
    });
  });
}
