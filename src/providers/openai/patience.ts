import type { Clock } from '../../base/clock.ts';
import { linkAbort } from '../../base/linkedAbort.ts';
import { createWatchdog } from '../../base/watchdog.ts';
import { ModelError } from '../ports/modelError.ts';

/** The first try and one more: a person waits on the line. */
const MOST_ATTEMPTS = 2;
const RETRY_DELAY_MS = 200;

export interface PatienceDeps {
  readonly clock: Clock;
  /** Bounds the wait for the first piece, and for each further one. */
  readonly timeoutMs: number;
  /** Announces each failure that is answered by another attempt. */
  readonly onRetry?: (error: ModelError) => void;
}

/**
 * Streams pieces from an endpoint; a failure before the first piece is tried once more where that may help, and a wait
 * beyond the limit is a failure.
 *
 * @param attempt - Makes one request; its failures are {@link ModelError}s.
 */
export async function* patiently<Piece>(
  attempt: (signal: AbortSignal) => AsyncIterable<Piece>,
  outerSignal: AbortSignal,
  { clock, timeoutMs, onRetry }: PatienceDeps,
): AsyncGenerator<Piece, void> {
  for (let tries = 1; ; tries += 1) {
    const abort = linkAbort(outerSignal);
    let hasBegun = false;
    const watchdog = createWatchdog(clock, timeoutMs, () => abort.abort(tooSlow(timeoutMs, !hasBegun)));
    try {
      watchdog.start();
      for await (const piece of attempt(abort.signal)) {
        hasBegun = true;
        watchdog.stop();
        yield piece;
        watchdog.start();
      }
      return;
    } catch (error) {
      outerSignal.throwIfAborted();
      const failure: unknown = abort.signal.aborted ? abort.signal.reason : error;
      const mayRetry = failure instanceof ModelError && failure.retryable && !hasBegun;
      if (!mayRetry || tries >= MOST_ATTEMPTS) throw failure;
      onRetry?.(failure);
    } finally {
      watchdog.close();
      abort.unlink();
      abort.abort(new Error('nobody listens any more'));
    }
    await rest(clock, outerSignal);
  }
}

function tooSlow(timeoutMs: number, beforeFirstToken: boolean): ModelError {
  const message = `The model's endpoint sent nothing for ${timeoutMs / 1000} s`;
  return new ModelError('model_unavailable', message, { beforeFirstToken });
}

/** @throws The signal's reason. */
async function rest(clock: Clock, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const wake = () => {
      timer.cancel();
      signal.removeEventListener('abort', wake);
      resolve();
    };
    const timer = clock.setTimer(wake, RETRY_DELAY_MS);
    signal.addEventListener('abort', wake, { once: true });
  });
  signal.throwIfAborted();
}
