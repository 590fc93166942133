/** Turns what a person says into words, one utterance at a time. */
export interface SpeechToText {
  /** Who it is in logs, such as `openai` or `pocketsphinx`. */
  readonly name: string;
  /** Begins an utterance; what has to be loaded or connected for it is, while the person still speaks. */
  openStream(request: RecognitionOptions): RecognitionStream;
  /** Idempotent. */
  close(): Promise<void>;
}

export interface RecognitionOptions {
  /** 8000, 16000 or 24000. */
  readonly sampleRateHz: number;
  /** Tag such as `en` or `zh-TW`; absent where nobody knows. */
  readonly language?: string;
  /** Phrases that the person may say: hints, or a grammar where the recogniser has no better. */
  readonly expectedAnswers?: readonly string[];
  /** The words as they become known, each time all of them; recognisers that tell only at the end never call. */
  readonly onInterim?: (text: string) => void;
}

/** One utterance. */
export interface RecognitionStream {
  /** The next samples. They are copied, or used up before it returns. Never throws. */
  push(samples: Int16Array): void;
  /**
   * Asks for the words of all that was pushed so far. May be asked again after more was pushed, when what seemed the
   * end of the utterance was only a pause; each answer is about all of it.
   *
   * @param signal - Drops the question: it rejects with the signal's reason.
   * @throws {ModelError} `model_unavailable`, `model_rejected` or `model_malformed`.
   */
  finalize(signal: AbortSignal): Promise<Transcript>;
  /** Lets go of everything. Idempotent. */
  close(): void;
}

export interface Transcript {
  /** Trimmed; empty when there were no words in it. */
  readonly text: string;
}
