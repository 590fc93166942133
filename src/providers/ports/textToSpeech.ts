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

/** How a text is spoken. What is absent is the provider's default. */
export interface SpokenVoice {
  /** BCP 47 tag such as `en` or `zh-TW`. */
  readonly language?: string | undefined;
  /** The provider's name or id of a voice. */
  readonly voice?: string | undefined;
  readonly model?: string | undefined;
  /** 0.5 to 2; 1 is the voice's own pace. Providers with a narrower range speak at its end. */
  readonly speed?: number | undefined;
}

/** What is said for a written word, or words. The voice session applies it before a provider has the text. */
export interface Pronunciation {
  /** Whole words, in any case. */
  readonly word: string;
  readonly say: string;
}

/** The voice of an agent. */
export interface AgentVoice extends SpokenVoice {
  readonly pronunciations?: readonly Pronunciation[] | undefined;
}

export interface SynthesisRequest extends SpokenVoice {
  readonly text: string;
}
