import { linkAbort } from '../../base/async/linkedAbort.ts';
import { sleep } from '../../base/async/sleep.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { Embedder } from '../ports/embedder.ts';
import type { ProviderMetrics } from '../ports/metrics.ts';
import { ModelError } from '../ports/modelError.ts';

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
  const { clock, maxAttempts, metrics, onRetry } = options;
  return {
    model: embedder.model,
    batchSize: embedder.batchSize,
    async embed(texts, signal) {
      const startedMs = clock.monotonicMs();
      for (let attempt = 1; ; attempt += 1) {
        try {
          const vectors = await embedWithTimeout(embedder, texts, options, signal);
          metrics.recordFirstOutput(clock.monotonicMs() - startedMs);
          return vectors;
        } catch (error) {
          signal.throwIfAborted();
          if (!(error instanceof ModelError)) throw error;
          const { retryable, retryAfterSeconds = 0 } = error;
          const delayMs = Math.max(FIRST_DELAY_MS * 2 ** (attempt - 1), retryAfterSeconds * 1000);
          if (!retryable || attempt >= maxAttempts || delayMs > MAX_DELAY_MS) {
            metrics.recordError(error);
            throw error;
          }
          onRetry?.(error);
          await sleep(clock, delayMs, signal);
        }
      }
    },
  };
}

async function embedWithTimeout(
  embedder: Embedder,
  texts: readonly string[],
  { clock, timeoutMs }: RetryOptions,
  signal: AbortSignal,
): Promise<Float32Array[]> {
  const abort = linkAbort(signal);
  const message = `The embeddings did not arrive within ${timeoutMs / 1000} s`;
  const timer = clock.setTimer(() => abort.abort(new ModelError('model_unavailable', message)), timeoutMs);
  try {
    return await embedder.embed(texts, abort.signal);
  } catch (error) {
    throw abort.signal.aborted ? abort.signal.reason : error;
  } finally {
    timer.cancel();
    abort.unlink();
  }
}
