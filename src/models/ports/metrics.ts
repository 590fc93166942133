import type { ModelError } from './modelError.ts';

export type ModelKind = 'chat' | 'transcription' | 'speech' | 'speech_to_speech' | 'embedding';

/** The owner of the key that the provider is used with. */
export type KeyOwner = 'installation' | 'project';

/** Counts what one provider does. An aborted request is neither an error nor an output. */
export interface ProviderMetrics {
  readonly recordError: (error: Pick<ModelError, 'code' | 'message'>) => void;
  /** The wait from the request to the first token or sample, or to the whole result where it is not streamed. */
  readonly recordFirstOutput: (waitedMs: number) => void;
  /** An output without a measured wait, such as words while they are spoken. */
  readonly recordOutput: () => void;
}

export type MetricsOfProvider = (model: ModelKind, provider: string, owner?: KeyOwner) => ProviderMetrics;
