import type { Clock, Timer } from '../../base/values/clock.ts';
import { NO_WORDS } from '../../conversation/turns/recognizedWords.ts';
import type { SpeechToSpeechConnection } from '../../models/ports/speechToSpeech.ts';
import type {
  RecognitionOptions,
  RecognitionStream,
  SpeechToText,
  Transcript,
} from '../../models/ports/speechToText.ts';

/** The answer does not wait longer for the caller's words. */
const WORDS_TIMEOUT_MS = 600;
/** The timeout after which another recognizer transcribes the words. */
const LATE_WORDS_TIMEOUT_MS = 5000;
/** Stands for words that are not known yet. */
const UNKNOWN_WORDS = '…';

type Listener = Pick<SpeechToSpeechConnection, 'push' | 'commit' | 'discard'>;
/** Transcribes what the model cannot. */
export type TranscribeFrames = (
  frames: readonly Int16Array[],
  options: RecognitionOptions,
) => Promise<Transcript>;

export interface EngineListeningDeps {
  readonly name: string;
  /** The listener; undefined once the model's connection is lost. */
  readonly listener: () => Listener | undefined;
  readonly transcribe: TranscribeFrames;
  /** The model has heard these words. */
  readonly onHeard: (text: string) => void;
  readonly clock: Clock;
}

type Words = { readonly text: string } | 'lost';

interface Commit {
  /** Words so far. */
  text: string;
  readonly words: Promise<Words>;
  readonly settle: (words: Words) => void;
  /** Says the words so far. */
  onInterim: () => void;
}

/** What a speech-to-speech model hears, as a recognizer of one utterance after the other. */
export class EngineListening implements SpeechToText {
  readonly name: string;
  readonly isAskedOnce = true;
  readonly #deps: EngineListeningDeps;
  readonly #commits = new Map<number, Commit>();

  constructor(deps: EngineListeningDeps) {
    this.#deps = deps;
    this.name = deps.name;
  }

  openStream(options: RecognitionOptions): RecognitionStream {
    return new UtteranceListening(this.#deps, options, (onInterim) => this.#commit(onInterim));
  }

  async close(): Promise<void> {}

  onTranscript(number: number, text: string, isFinal: boolean): void {
    const commit = this.#commits.get(number);
    if (!commit) return;
    commit.text = text;
    if (isFinal) this.#settle(number, { text });
    else commit.onInterim();
  }

  onTranscriptLost(number: number): void {
    this.#settle(number, 'lost');
  }

  /** The model is lost: what was said is for the ordinary recognizer. */
  onLost(): void {
    for (const number of [...this.#commits.keys()]) this.#settle(number, 'lost');
  }

  #commit(onInterim: () => void): Commit | undefined {
    const number = this.#deps.listener()?.commit();
    if (number === undefined) return undefined;
    let settle: (words: Words) => void = () => undefined;
    const words = new Promise<Words>((resolve) => {
      settle = resolve;
    });
    const commit = { text: '', words, settle, onInterim };
    this.#commits.set(number, commit);
    return commit;
  }

  #settle(number: number, words: Words): void {
    this.#commits.get(number)?.settle(words);
    this.#commits.delete(number);
  }
}

/** One utterance. Its pauses cut it into commits, whose words make up its transcript. */
class UtteranceListening implements RecognitionStream {
  readonly #deps: EngineListeningDeps;
  readonly #options: RecognitionOptions;
  readonly #commit: (onInterim: () => void) => Commit | undefined;
  readonly #frames: Int16Array[] = [];
  readonly #commits: Commit[] = [];
  /** Frames that the last commit has. */
  #committed = 0;
  /** The model did not hear all of it. */
  #isLost = false;

  constructor(
    deps: EngineListeningDeps,
    options: RecognitionOptions,
    commit: (onInterim: () => void) => Commit | undefined,
  ) {
    this.#deps = deps;
    this.#options = options;
    this.#commit = commit;
  }

  push(samples: Int16Array): void {
    this.#frames.push(samples.slice());
    const listener = this.#deps.listener();
    if (listener) listener.push(samples);
    else this.#isLost = true;
  }

  async finalize(signal: AbortSignal): Promise<Transcript> {
    if (this.#committed < this.#frames.length) {
      this.#committed = this.#frames.length;
      const commit = this.#commit(() => this.#tellInterim());
      if (commit) this.#commits.push(commit);
      else this.#isLost = true;
    }
    const words = this.#words();
    const transcript = await within(this.#deps.clock, WORDS_TIMEOUT_MS, words, signal);
    if (transcript) {
      this.#deps.onHeard(transcript.text);
      return transcript;
    }
    this.#deps.onHeard(UNKNOWN_WORDS);
    return { text: UNKNOWN_WORDS, late: this.#lateWords(words) };
  }

  close(): void {
    if (this.#committed < this.#frames.length) this.#deps.listener()?.discard();
    this.#committed = this.#frames.length;
  }

  /** @throws {ModelError} When neither the model nor the ordinary recognizer can tell. */
  async #words(): Promise<Transcript> {
    const frames = this.#frames.slice();
    const heard = await Promise.all(this.#commits.map(({ words }) => words));
    if (this.#isLost || heard.includes('lost')) return await this.#deps.transcribe(frames, this.#options);
    const texts = heard.flatMap((words) => (words === 'lost' || words.text === '' ? [] : [words.text]));
    return { text: texts.join(' ') };
  }

  /** Returns the words of a late transcript. Never rejects. */
  async #lateWords(words: Promise<Transcript>): Promise<string> {
    const { clock, transcribe, onHeard } = this.#deps;
    const frames = this.#frames.slice();
    const never = new AbortController().signal;
    try {
      const wait = (found: Promise<Transcript>) => within(clock, LATE_WORDS_TIMEOUT_MS, found, never);
      const { text } = (await wait(words)) ?? (await wait(transcribe(frames, this.#options))) ?? NO_WORDS;
      if (text !== '') onHeard(text);
      return text;
    } catch {
      return '';
    }
  }

  #tellInterim(): void {
    const text = this.#commits.map((commit) => commit.text).filter((part) => part !== '');
    this.#options.onInterim?.(text.join(' '));
  }
}

/** @returns The value; undefined when it takes longer than `timeoutMs`. @throws The signal's reason. */
async function within<Value>(
  clock: Clock,
  timeoutMs: number,
  value: Promise<Value>,
  signal: AbortSignal,
): Promise<Value | undefined> {
  let timer: Timer | undefined;
  let unlink: () => void = () => undefined;
  try {
    return await new Promise<Value | undefined>((resolve, reject) => {
      timer = clock.setTimer(() => resolve(undefined), timeoutMs);
      const abort = () => reject(signal.reason);
      signal.addEventListener('abort', abort);
      unlink = () => signal.removeEventListener('abort', abort);
      if (signal.aborted) abort();
      value.then(resolve, reject);
    });
  } finally {
    timer?.cancel();
    unlink();
  }
}
