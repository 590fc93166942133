import type { ModelError } from './modelError.ts';

/** Speech recognition of a whole stream of audio, while it is spoken. */
export interface StreamingSpeechToText {
  /** The name in logs and metrics, such as `deepgram`. */
  readonly name: string;
  /** True when every turn ends with `end_of_turn`, before which `eager_end` and `turn_resumed` may come. */
  readonly detectsTurns: boolean;
  /** A connection is to be replaced from this age on, before the vendor ends it. Default: never. */
  readonly maxAgeMs?: number | undefined;
  /** The recognizer for these languages, of a vendor that has several. Default: this one. */
  select?(options: RecognitionConnectionOptions): StreamingSpeechToText;
  /** Connects at once. Never throws: a connection that cannot be made reports `failed`. */
  connect(
    options: RecognitionConnectionOptions,
    onEvent: (event: RecognitionEvent) => void,
  ): RecognitionConnection;
  close(): Promise<void>;
}

export interface RecognitionConnectionOptions {
  /** The sample rate of the pushed samples: 8000, 16000 or 24000. */
  readonly sampleRateHz: number;
  /** BCP 47 tag such as `en` or `zh-TW`; absent when unknown. */
  readonly language?: string | undefined;
  /** The languages that the caller may speak, when the recognizer must detect which. `language` is then undefined. */
  readonly languages?: readonly string[] | undefined;
  /** Words that the caller may say and a recognizer may not know, such as names. */
  readonly keyterms?: readonly string[] | undefined;
}

export interface RecognitionConnection {
  /** Takes the next samples, silence included, which the caller of it may reuse. Never throws. */
  push(samples: Int16Array): void;
  /**
   * Asks for the final transcript of what was pushed: `final` follows, and `end_of_turn` where turns are detected.
   *
   * @returns False when the vendor has no such request.
   */
  finalize(): boolean;
  /**
   * Leaves a vendor that has reported no word of the caller's speech. After `reconnecting` another vendor recognizes
   * that speech again. Undefined when the connection has only one vendor.
   *
   * @param lengthMs - The length of the audio to recognize again.
   * @param mayReconnect - True when the same vendor is connected again because no other is left.
   * @returns False when the connection stays as it is.
   */
  leave?: ((error: ModelError, lengthMs: number, mayReconnect: boolean) => boolean) | undefined;
  /** Ends the connection. No event follows. Idempotent. */
  close(): void;
}

/** An event of a recognizer. Transcripts belong to the current turn, which `end_of_turn` ends. */
export type RecognitionEvent =
  /** The connection accepts audio. */
  | { readonly type: 'connected' }
  /**
   * The recognizer connects again and recognizes the audio again that has no final transcript; `connected` or `failed`
   * follows.
   */
  | { readonly type: 'reconnecting' }
  /** The turn's words so far; later ones may revise them. */
  | { readonly type: 'interim'; readonly transcript: TurnTranscript }
  /** The turn's words; no later one revises them. */
  | { readonly type: 'final'; readonly transcript: TurnTranscript }
  /** The caller has probably finished; `turn_resumed` or `end_of_turn` follows. Its words came before it. */
  | { readonly type: 'eager_end' }
  | { readonly type: 'turn_resumed' }
  /** The caller has finished. Its words came before it. */
  | { readonly type: 'end_of_turn' }
  /** The connection is lost, or was refused; `connected` follows where another one is made. */
  | { readonly type: 'failed'; readonly error: ModelError };

export interface TurnTranscript {
  /** The text without surrounding blanks. */
  readonly text: string;
  /** The words in order; undefined when the vendor sends no times. */
  readonly words?: readonly TimedWord[] | undefined;
  /** The confidence, from 0 to 1. */
  readonly confidence?: number | undefined;
  /** BCP 47 tag of what was spoken, where the vendor detects it. */
  readonly language?: string | undefined;
}

/** Times count from the stream's first sample. */
export interface TimedWord {
  readonly word: string;
  readonly startMs: number;
  readonly endMs: number;
}
