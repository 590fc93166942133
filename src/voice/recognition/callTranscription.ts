import type { ModelError } from '../../providers/ports/modelError.ts';
import type { Recognizer } from '../../providers/ports/recognizer.ts';
import type { Transcript } from '../../providers/ports/speechToText.ts';
import { openTranscription, type TranscriptionOptions } from './openTranscription.ts';
import { hasWords, withWordsOnly } from './recognizedWords.ts';
import { type FrameContext, NO_WORDS, type Transcription } from './transcription.ts';

/** What the caller says before the first recognizer is known: ten seconds of frames. */
const MAX_WAITING_FRAMES = 500;

export interface CallTranscriptionDeps extends Omit<TranscriptionOptions, 'startSamples'> {
  /** Samples of the stream so far. */
  readonly receivedSamples: () => number;
  /** A recognizer that was lost is left for the next one. */
  readonly onFallback: (from: string, to: string, error: unknown) => void;
  /** This recognizer hears the caller from now on. */
  readonly onRecognizer: (recognizer: Recognizer) => void;
}

/**
 * Transcription of one call, by recognizers that change with the pathway's nodes, and when one of them is lost. What they
 * write for sounds is no word of the caller.
 */
export class CallTranscription implements Transcription {
  readonly #deps: CallTranscriptionDeps;
  #current: Transcription | undefined;
  /** Waits for the end of the open utterance. */
  #next: readonly Recognizer[] | undefined;
  /** Behind the current recognizer. */
  #fallbacks: readonly Recognizer[] = [];
  #waiting: { readonly frame: Int16Array; readonly context: FrameContext }[] = [];
  #recognizer: Recognizer | undefined;
  #isClosed = false;

  constructor(deps: CallTranscriptionDeps) {
    this.#deps = deps;
  }

  /** The first of these hears the caller; the others when it is lost. */
  use(recognizers: readonly Recognizer[]): void {
    this.#next = recognizers;
    if (!this.isOpen) this.#open();
  }

  get isOpen(): boolean {
    return this.#current?.isOpen ?? false;
  }

  push(frame: Int16Array, context: FrameContext): void {
    if (this.#next && !this.isOpen) this.#open();
    if (this.#current) {
      this.#current.push(frame, context);
      return;
    }
    this.#waiting.push({ frame: frame.slice(), context });
    if (this.#waiting.length > MAX_WAITING_FRAMES) this.#waiting.shift();
  }

  async request(signal: AbortSignal): Promise<Transcript> {
    const asked = this.#current;
    try {
      return withWordsOnly((await asked?.request(signal)) ?? NO_WORDS);
    } catch (error) {
      if (!signal.aborted && asked === this.#current) this.#fallBack(error);
      throw error;
    }
  }

  requestInterim(): void {
    this.#current?.requestInterim();
  }

  async take(requested: Promise<Transcript>): Promise<Transcript> {
    return withWordsOnly(await (this.#current?.take(requested) ?? requested));
  }

  discard(): void {
    this.#current?.discard();
  }

  close(): void {
    this.#isClosed = true;
    this.#current?.close();
  }

  #open(): void {
    const [first, ...others] = this.#next ?? [];
    this.#next = undefined;
    if (!first || this.#isClosed) return;
    this.#current?.close();
    this.#fallbacks = others;
    const startSamples = this.#deps.receivedSamples() - this.#waitingSamples();
    const onFailed = (error: ModelError) => {
      this.#deps.onFailed(error);
      if (this.#current === opened) this.#fallBack(error);
    };
    const opened = openTranscription(first, {
      ...this.#deps,
      startSamples,
      onFailed,
      onInterim: (text) => {
        if (hasWords(text)) this.#deps.onInterim(text);
      },
      onRevised: (transcript) => this.#deps.onRevised(withWordsOnly(transcript)),
    });
    this.#current = opened;
    this.#recognizer = first;
    this.#deps.onRecognizer(first);
    for (const { frame, context } of this.#waiting.splice(0)) opened.push(frame, context);
  }

  #fallBack(error: unknown): void {
    const [next] = this.#fallbacks;
    if (!next || this.#next) return;
    this.#deps.onFallback(this.#recognizer?.name ?? '', next.name, error);
    this.#next = this.#fallbacks;
  }

  #waitingSamples(): number {
    return this.#waiting.reduce((sum, { frame }) => sum + frame.length, 0);
  }
}
