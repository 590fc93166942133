import type { SampleRateHz } from '../../media/resample/resampler.ts';

/** Turns words into speech. */
export interface TextToSpeech {
  /** Who it is in logs, such as `openai` or `flite`. */
  readonly name: string;
  /** Of all that it makes. */
  readonly sampleRateHz: SampleRateHz;
  /** Whether the same text always sounds well enough alike that it may be kept and played again. */
  readonly isCacheable: boolean;
  /**
   * Speaks a text, a sentence as a rule. Nothing happens before the first read; pieces come as they are made, of any
   * length, each an array of its own.
   *
   * @param signal - A pending read then rejects with the signal's reason.
   * @throws {ModelError} From a read; `beforeFirstToken` tells whether anything of it has sounded.
   */
  synthesize(request: SynthesisRequest, signal: AbortSignal): AsyncIterable<Int16Array>;
  /** Idempotent. */
  close(): Promise<void>;
}

export interface SynthesisRequest {
  readonly text: string;
  /** Absent: the configured one. */
  readonly voice?: string;
  /** Tag such as `en` or `zh-TW`, for speakers that want to know. */
  readonly language?: string;
}
