import type { SampleRateHz } from '../../media/resample/resampler.ts';

/** Speech synthesis. */
export interface TextToSpeech {
  /** As settings name it, such as `openai` or `local`. */
  readonly name: string;
  /** Of all speech. */
  readonly sampleRateHz: SampleRateHz;
  /** Whether the speech of a text may be cached and played again. */
  readonly isCacheable: boolean;
  /**
   * Synthesizes a text, usually a sentence, with the first read. Chunks have any length, and memory of their own.
   *
   * @param signal - Aborts the request: a pending read rejects with the signal's reason.
   * @throws {ModelError} From a read; `beforeFirstToken` is whether no samples were yielded.
   */
  synthesize(request: SynthesisRequest, signal: AbortSignal): AsyncIterable<Int16Array>;
  /** Idempotent. */
  close(): Promise<void>;
}

export interface SynthesisRequest {
  readonly text: string;
  /** BCP 47 tag such as `en` or `zh-TW`. */
  readonly language?: string;
}
