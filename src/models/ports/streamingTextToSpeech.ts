import type { SampleRateHz } from '../../media/resample/resampler.ts';
import type { ModelError } from './modelError.ts';
import type { TimedWord } from './streamingSpeechToText.ts';
import type { SpokenVoice } from './textToSpeech.ts';

/** Speech synthesis of texts while they are written. */
export interface StreamingTextToSpeech {
  /** The name in logs and metrics, such as `elevenlabs`. */
  readonly name: string;
  /** The sample rate of all speech. */
  readonly sampleRateHz: SampleRateHz;
  /** Connects at once, for one call. It never throws. @param voice - The first text's voice, as far as it is known. */
  connect(voice?: SpokenVoice): SynthesisConnection;
  close(): Promise<void>;
}

export interface SynthesisConnection {
  /** Speaks a text. Several may be open; the speech of each comes in order. Never throws. */
  speak(voice: SpokenVoice, onEvent: (event: SynthesisEvent) => void): SynthesisStream;
  /** Ends the connection. No event follows. Idempotent. */
  close(): void;
}

export interface SynthesisStream {
  /**
   * Adds to the text: whole words, with the spaces between them. A sentence that is complete is spoken, whether or not
   * more is written.
   */
  write(text: string): void;
  /** The text is complete: `done` follows. */
  end(): void;
  /** Wants no samples for now: the vendor is held back, and only those come that are on their way. Idempotent. */
  pause(): void;
  /** Continues the events after a pause. Idempotent. */
  resume(): void;
  /** Cancels the text. No event follows. Idempotent. */
  cancel(): void;
}

export type SynthesisEvent =
  /** The next samples, which the receiver may keep. */
  | { readonly type: 'samples'; readonly samples: Int16Array }
  /** The next words, with times from the text's first sample; they may come before or after their samples. */
  | { readonly type: 'words'; readonly words: readonly TimedWord[] }
  /** The last event: all was spoken. */
  | { readonly type: 'done' }
  /** The synthesis has failed. This is the last event. */
  | { readonly type: 'failed'; readonly error: ModelError };
