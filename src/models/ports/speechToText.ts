/** A speech recognition provider for whole utterances. */
export interface SpeechToText {
  /** The name in settings, such as `openai` or `local`. */
  readonly name: string;
  /** True when each transcript is answered. It is then requested only when the caller has paused. */
  readonly isAskedOnce?: boolean | undefined;
  /** Starts the recognition of one utterance, and connects or loads what it needs while the caller speaks. */
  openStream(request: RecognitionOptions): RecognitionStream;
  close(): Promise<void>;
}

export interface RecognitionOptions {
  /** The sample rate of the pushed samples: 8000, 16000 or 24000. */
  readonly sampleRateHz: number;
  /** BCP 47 tag such as `en` or `zh-TW`; absent when unknown. */
  readonly language?: string | undefined;
  /** The languages that the caller may speak, when the recognizer must detect which. `language` is then undefined. */
  readonly languages?: readonly string[] | undefined;
  /** Words that the caller may say and a recognizer may not know, such as names. */
  readonly keyterms?: readonly string[] | undefined;
  /** Phrases that the caller may say: a hint, or the grammar of a recognizer without a better model. */
  readonly expectedAnswers?: readonly string[];
  /** Receives each interim transcript of the whole utterance. Batch recognizers never call it. */
  readonly onInterim?: (text: string) => void;
}

/** The recognition of one utterance. */
export interface RecognitionStream {
  /** Adds samples, which the caller may reuse afterwards. Never throws. */
  push(samples: Int16Array): void;
  /**
   * Returns the transcript of everything that was pushed. May be called again after more was pushed, when the end of the
   * utterance was only a pause.
   *
   * @param signal - Aborts this call, not the stream: it rejects with the signal's reason.
   * @param isInterim - The caller speaks on: the transcript must not delay the one at their pause, and may be empty.
   * @throws {ModelError}
   */
  finalize(signal: AbortSignal, isInterim?: boolean): Promise<Transcript>;
  close(): void;
}

export interface Transcript {
  /** Trimmed; empty when nothing was said. */
  readonly text: string;
  /** The BCP 47 tag of the spoken language; undefined when the recognizer does not report it. */
  readonly language?: string | undefined;
  /**
   * The words that `text` only stands for, of a model that answers before it tells what it heard; empty when they
   * stay unknown. Never rejects.
   */
  readonly late?: Promise<string> | undefined;
}
