import type { Clock } from '../base/clock.ts';
import { linkAbort } from '../base/linkedAbort.ts';
import { sleep } from '../base/sleep.ts';
import type { Embedder } from './ports/embedder.ts';
import { ModelError } from './ports/modelError.ts';

/** Doubles with each attempt. */
const FIRST_DELAY_MS = 500;
/** An endpoint that wants a longer rest than this is left to whoever asked. */
const LONGEST_DELAY_MS = 30_000;

export interface Patience {
  readonly clock: Clock;
  /** How often a request is sent at most. */
  readonly attempts: number;
  /** Bounds each attempt. */
  readonly timeoutMs: number;
  /** Announces each failure that is answered by another attempt. */
  readonly onRetry?: (error: ModelError) => void;
}

/** Asks again, after a growing rest or the one that the endpoint asks for, where that may help. */
export function createPatientEmbedder(embedder: Embedder, patience: Patience): Embedder {
  return {
    ...embedder,
    async embed(texts, signal) {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await embedInTime(embedder, texts, patience, signal);
        } catch (error) {
          signal.throwIfAborted();
          if (!(error instanceof ModelError) || !error.retryable || attempt >= patience.attempts) throw error;
          const delayMs = Math.max(
            FIRST_DELAY_MS * 2 ** (attempt - 1),
            (error.retryAfterSeconds ?? 0) * 1000,
          );
          if (delayMs > LONGEST_DELAY_MS) throw error;
          patience.onRetry?.(error);
          await sleep(patience.clock, delayMs, signal);
        }
      }
    },
  };
}

async function embedInTime(
  embedder: Embedder,
  texts: readonly string[],
  { clock, timeoutMs }: Patience,
  signal: AbortSignal,
): Promise<Float32Array[]> {
  const abort = linkAbort(signal);
  const late = new ModelError(
    'model_unavailable',
    `The embeddings did not come within ${timeoutMs / 1000} s`,
    {
      beforeFirstToken: true,
    },
  );
  const timer = clock.setTimer(() => abort.abort(late), timeoutMs);
  try {
    return await embedder.embed(texts, abort.signal);
  } catch (error) {
    throw abort.signal.aborted ? abort.signal.reason : error;
  } finally {
    timer.cancel();
    abort.unlink();
  }
}
