import { hasWords, NO_WORDS, withWordsOnly } from '../../conversation/turns/recognizedWords.ts';
import { Failover, type OnFallback } from '../../models/failover/failover.ts';
import { asModelError, type ModelError } from '../../models/ports/modelError.ts';
import type { Recognizer } from '../../models/ports/recognizer.ts';
import type { Transcript } from '../../models/ports/speechToText.ts';
import { openTranscription, type TranscriptionOptions } from './openTranscription.ts';
import type { FrameContext, Transcription } from './transcription.ts';

/** What the caller says before the first recognizer is known: ten seconds of frames. */
const MAX_WAITING_FRAMES = 500;
/**
 * An utterance is kept up to this length for the next recognizer to hear again: half a minute, with 300 ms before it.
 */
const MAX_UTTERANCE_FRAMES = 1500;
const PRE_ROLL_FRAMES = 15;

export interface CallTranscriptionDeps extends Omit<TranscriptionOptions, 'startSamples' | 'hasFallback'> {
  /** Samples of the stream so far. */
  readonly receivedSamples: () => number;
  readonly onFallback: OnFallback<Recognizer>;
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
  /** The current recognizer, and those that follow it. */
  #failover: Failover<Recognizer> | undefined;
  /** What the next recognizer is to hear: all, before the first one, then the open utterance. */
  #kept: { readonly frame: Int16Array; readonly context: FrameContext }[] = [];
  #isClosed = false;

  constructor(deps: CallTranscriptionDeps) {
    this.#deps = deps;
  }

  /** The first of these hears the caller; the others when it is lost. */
  use(recognizers: readonly Recognizer[]): void {
    this.#next = recognizers;
    if (!this.isOpen) this.#useNext();
  }

  get isOpen(): boolean {
    return this.#current?.isOpen ?? false;
  }

  push(frame: Int16Array, context: FrameContext): void {
    if (this.#next && !this.isOpen) this.#useNext();
    if (!this.#current || this.#failover?.next) this.#keep(frame, context);
    this.#current?.push(frame, context);
  }

  /** The utterance that a recognizer has lost is transcribed by the next one. */
  async request(signal: AbortSignal): Promise<Transcript> {
    for (;;) {
      const asked = this.#current;
      try {
        return withWordsOnly((await asked?.request(signal)) ?? NO_WORDS);
      } catch (error) {
        if (signal.aborted) throw error;
        if (asked === this.#current) this.#fallBack(error);
        if (asked === this.#current || !this.isOpen) throw error;
      }
    }
  }

  requestInterim(): void {
    this.#current?.requestInterim();
  }

  async take(requested: Promise<Transcript>): Promise<Transcript> {
    this.#kept = [];
    return withWordsOnly(await (this.#current?.take(requested) ?? requested));
  }

  discard(): void {
    this.#kept = [];
    this.#current?.discard();
  }

  close(): void {
    this.#isClosed = true;
    this.#current?.close();
  }

  #useNext(): void {
    const { clock, onFallback } = this.#deps;
    // A chain has the name of the vendor that hears the caller.
    const named = (model: Recognizer) => ({
      model,
      get name() {
        return model.name;
      },
    });
    const candidates = this.#next?.map(named) ?? [];
    this.#next = undefined;
    if (candidates.length === 0 || this.#isClosed) return;
    this.#open(new Failover(candidates, { clock, onFallback, onLate: () => undefined }));
  }

  #open(failover: Failover<Recognizer>): void {
    if (this.#isClosed) return;
    this.#failover = failover;
    this.#current?.close();
    const { model } = failover.current;
    const startSamples = this.#deps.receivedSamples() - this.#keptSamples();
    const onFailed = (error: ModelError) => {
      this.#deps.onFailed(error);
      if (this.#current === opened) this.#fallBack(error);
    };
    const hasFallback = () => failover.next !== undefined;
    const opened = openTranscription(model, {
      ...this.#deps,
      startSamples,
      onFailed,
      hasFallback,
      onInterim: (text) => {
        if (hasWords(text)) this.#deps.onInterim(text);
      },
      onRevised: (transcript) => this.#deps.onRevised(withWordsOnly(transcript)),
    });
    this.#current = opened;
    this.#deps.onRecognizer(model);
    for (const { frame, context } of this.#kept) opened.push(frame, context);
    if (!hasFallback()) this.#kept = [];
  }

  #keep(frame: Int16Array, context: FrameContext): void {
    this.#kept.push({ frame: frame.slice(), context });
    const max = context.utterance ? MAX_UTTERANCE_FRAMES : PRE_ROLL_FRAMES;
    this.#kept.splice(0, this.#kept.length - (this.#current ? max : MAX_WAITING_FRAMES));
  }

  #fallBack(error: unknown): void {
    const failover = this.#failover;
    if (failover && !this.#next && failover.fail(asModelError(error))) this.#open(failover);
  }

  #keptSamples(): number {
    return this.#kept.reduce((sum, { frame }) => sum + frame.length, 0);
  }
}
