import type { Amounts } from '../../agents/cost/usage.ts';
import type { EngineConfig } from '../../agents/speech/engineConfig.ts';
import type { SpeechConfig } from '../../agents/speech/speechConfig.ts';
import type { Breakers } from '../failover/circuitBreaker.ts';
import type { Candidate } from '../failover/failover.ts';
import type { Recognizer } from '../ports/recognizer.ts';
import type { SpeechToSpeech } from '../ports/speechToSpeech.ts';
import type { Synthesizer } from '../ports/synthesizer.ts';

/** Finds the vendors that an agent or a node names. */
export interface SpeechProviders {
  /** Opens the providers of one call, with the credentials that the project has now. */
  open(projectId: string, onFallback: (fallback: ProviderFallback) => void, onUsed: OnUsed): CallProviders;
  /** The vendors of the settings, which count what they do for the project. */
  counted(projectId: string, vendors: SpeechVendors, onUsed: OnUsed): SpeechVendors;
}

/** Tells what vendors have done, on any credentials. */
export type OnUsed = (used: Amounts) => void;

export interface SpeechVendors {
  readonly speechToText: Recognizer;
  readonly textToSpeech: Synthesizer;
}

export interface CallProviders {
  /**
   * Returns the recognizers in the order of preference, at least one; those that cannot be used are reported and left
   * out.
   *
   * @throws {ModelError} When none can be used.
   */
  recognizers(config: SpeechConfig): Promise<readonly Recognizer[]>;
  /** The same for speech synthesis. */
  synthesizers(config: SpeechConfig): Promise<readonly Candidate<Synthesizer>[]>;
  /** The circuit breakers of the vendors. */
  readonly breakers: Breakers;
  /** Whether the project has credentials of its own for the providers of the settings. */
  ownDefaults(): Promise<OwnDefaults>;
  /** The call is over. Idempotent. */
  close(): void;
}

export interface OwnDefaults {
  readonly recognition: boolean;
  readonly synthesis: boolean;
}

export const SPEECH_KINDS = ['recognition', 'synthesis', 'engine'] as const;

/** A vendor was left for the next one. */
export interface ProviderFallback {
  readonly kind: (typeof SPEECH_KINDS)[number];
  /** The vendor's name in the settings. */
  readonly from: string;
  readonly to: string;
  readonly reason: string;
}

/** Finds the speech-to-speech models that an agent or a node names. */
export interface SpeechEngines {
  /** Opens the engines of one call, with the credentials that the project has now. */
  open(projectId: string, onUsed: OnUsed): CallEngines;
}

export interface CallEngines {
  /** @throws {ModelError} When it has no credentials, or has failed just now. */
  find(config: EngineConfig): Promise<Candidate<SpeechToSpeech>>;
  /** The circuit breakers of the models. */
  readonly breakers: Breakers;
  /** The call is over. Idempotent. */
  close(): void;
}
