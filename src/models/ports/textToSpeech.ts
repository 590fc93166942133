import type { SampleRateHz } from '../../media/resample/resampler.ts';

/** A speech synthesis provider. */
export interface TextToSpeech {
  /** The name in settings, such as `openai` or `local`. */
  readonly name: string;
  /** The sample rate of all speech. */
  readonly sampleRateHz: SampleRateHz;
  /** True when the speech of a text may be cached and played again. */
  readonly isCacheable: boolean;
  /**
   * Synthesizes a text, usually a sentence, with the first read. Chunks have any length, and memory of their own.
   *
   * @param signal - Aborts the request: a pending read rejects with the signal's reason.
   * @throws {ModelError} The iterator throws it from a read; `beforeFirstToken` is true when no samples were yielded.
   */
  synthesize(request: SynthesisRequest, signal: AbortSignal): AsyncIterable<Int16Array>;
  close(): Promise<void>;
}

/** The voice of a text. Undefined fields take the provider's default. */
export interface SpokenVoice {
  /** BCP 47 tag such as `en` or `zh-TW`. */
  readonly language?: string | undefined;
  /** The provider's name or id of a voice. */
  readonly voice?: string | undefined;
  readonly model?: string | undefined;
  /** 0.5 to 2; 1 is the voice's own pace. Providers with a narrower range speak at its end. */
  readonly speed?: number | undefined;
}

/** The spoken form of one or several written words. The voice session applies it before a provider gets the text. */
export interface Pronunciation {
  /** The written word or words, matched as whole words in any case. */
  readonly word: string;
  readonly say: string;
}

export interface AgentVoice extends SpokenVoice {
  readonly pronunciations?: readonly Pronunciation[] | undefined;
}

export interface SynthesisRequest extends SpokenVoice {
  readonly text: string;
}
