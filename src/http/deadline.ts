import type { Clock } from '../base/values/clock.ts';
import { HttpClientError } from './errors.ts';

/** The signal that ends a request: timeout, abort by the caller, or closed client. */
export interface Deadline {
  /** The signal, whose reason is an {@link HttpClientError}: `timeout` or `aborted`. */
  readonly signal: AbortSignal;
  abort(message: string): void;
  /** Removes the timer and the listener. Idempotent. */
  end(): void;
}

export function startDeadline(options: {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}): Deadline {
  const { clock, timeoutMs, signal } = options;
  const controller = new AbortController();
  const abort = (message: string) => controller.abort(new HttpClientError('aborted', message));
  const onAbort = () => abort('the request was aborted by its caller');
  const timer = clock.setTimer(() => {
    controller.abort(new HttpClientError('timeout', `no complete response within ${timeoutMs} ms`));
  }, timeoutMs);
  signal?.addEventListener('abort', onAbort, { once: true });
  if (signal?.aborted) onAbort();
  return {
    signal: controller.signal,
    abort,
    end() {
      timer.cancel();
      signal?.removeEventListener('abort', onAbort);
    },
  };
}
