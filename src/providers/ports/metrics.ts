import type { ModelErrorCode } from './modelError.ts';

/** Counts what one provider does. An aborted request is neither an error nor an output. */
export interface ProviderMetrics {
  readonly recordError: (code: ModelErrorCode) => void;
  /** The wait from the request to the first token or sample, or to the whole result where it is not streamed. */
  readonly recordFirstOutput: (waitedMs: number) => void;
}
