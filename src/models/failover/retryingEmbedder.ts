import type { Clock } from '../../base/values/clock.ts';
import type { Embedder } from '../ports/embedder.ts';
import type { ProviderMetrics } from '../ports/metrics.ts';
import type { ModelError } from '../ports/modelError.ts';
import { requestWithFailover } from './streamWithFailover.ts';

/** The delay before the second attempt. It doubles with each attempt. */
const FIRST_DELAY_MS = 500;
/** An endpoint that asks for a longer delay is not asked again; the caller may try later. */
const MAX_DELAY_MS = 30_000;

export interface RetryOptions {
  readonly clock: Clock;
  readonly maxAttempts: number;
  /** The timeout of each attempt. */
  readonly timeoutMs: number;
  readonly metrics: ProviderMetrics;
  /** Reports each failure that another attempt follows. */
  readonly onRetry?: (error: ModelError) => void;
}

/** An embedder with retries by exponential backoff, or after the delay that the endpoint asks for. */
export function createRetryingEmbedder(embedder: Embedder, options: RetryOptions): Embedder {
  const { clock, maxAttempts, timeoutMs, metrics, onRetry } = options;
  return {
    model: embedder.model,
    batchSize: embedder.batchSize,
    embed: (texts, signal) =>
      requestWithFailover(
        {
          candidates: [{ model: embedder, name: embedder.model.name, metrics, attempts: maxAttempts }],
          clock,
          ask: ({ model }, attemptSignal) => model.embed(texts, attemptSignal),
          firstOutputMs: () => timeoutMs,
          late: () => `The embeddings did not arrive within ${timeoutMs / 1000} s`,
          retry: { firstDelayMs: FIRST_DELAY_MS, longestDelayMs: MAX_DELAY_MS },
          onRetry,
        },
        signal,
      ),
  };
}
