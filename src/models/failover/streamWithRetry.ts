import { type LinkedAbort, linkAbort } from '../../base/async/linkedAbort.ts';
import { sleep } from '../../base/async/sleep.ts';
import { createWatchdog, type Watchdog } from '../../base/async/watchdog.ts';
import type { Clock, Timer } from '../../base/values/clock.ts';
import type { ProviderMetrics } from '../ports/metrics.ts';
import { ModelError } from '../ports/modelError.ts';

/** A person waits, and a second failure is not a coincidence. */
const MAX_ATTEMPTS = 2;
/** Lets a lost connection or a restarting process recover; hardly noticed on the phone. */
const RETRY_DELAY_MS = 200;
/** An endpoint that asks for a longer delay is not asked again, since the caller would hear silence. */
const MAX_RETRY_DELAY_MS = 2000;
/** Token counts follow the answer, and some endpoints never end their response. */
const TRAILING_DATA_TIMEOUT_MS = 500;

/** A vendor's API whose responses are streams of `Item`. */
export interface StreamSource<Item> {
  /**
   * Sends the request.
   *
   * @param signal - Aborts the request and its response.
   * @returns The response, once the head of a successful one has arrived.
   */
  open(signal: AbortSignal): Promise<StreamedResponse<Item>>;
  /** Maps what `open` or the response threw. */
  toModelError(error: unknown, beforeFirstToken: boolean): ModelError;
}

export interface StreamedResponse<Item> {
  /** Raw data, as the vendor's client yields it. */
  readonly chunks: AsyncIterable<unknown> | Iterable<unknown>;
  /** @throws {ModelError} When the chunk is unreadable or an error. */
  decode(chunk: unknown): readonly Item[];
  /** True once the answer is complete and only metadata may follow. */
  readonly isComplete: boolean;
  /**
   * Returns the last items; called once, after the last chunk.
   *
   * @returns The last items.
   * @throws {ModelError} When the answer is incomplete.
   */
  finish(): readonly Item[];
}

export interface StreamDeps {
  readonly clock: Clock;
  /** Limits the wait for the first item and for each further one, in each attempt. */
  readonly timeoutMs: number;
  /** Reports each failure that another attempt follows. */
  readonly onRetry?: (error: ModelError) => void;
  readonly metrics?: ProviderMetrics;
}

/**
 * Streams the items of one answer. A failure before the first item is retried once where that may help; an answer that
 * has started is never started again. The time between two reads does not count towards the timeout.
 *
 * @param signal - Aborts the stream: a pending read rejects with the signal's reason.
 * @throws {ModelError}
 */
export async function* streamWithRetry<Item>(
  source: StreamSource<Item>,
  deps: StreamDeps,
  signal: AbortSignal,
): AsyncGenerator<Item, void> {
  const progress = { attempts: 0, hasStarted: false, startedMs: deps.clock.monotonicMs() };
  for (;;) {
    signal.throwIfAborted();
    const attempt = new Attempt(deps, signal, progress);
    let response: StreamedResponse<Item> | undefined;
    let retryDelayMs: number;
    try {
      response = await source.open(attempt.signal);
      for await (const chunk of response.chunks) {
        for (const item of response.decode(chunk)) {
          attempt.passOn();
          yield item;
          attempt.awaitNext();
        }
        if (response.isComplete) attempt.limitTrailingData();
      }
      yield* response.finish();
      return;
    } catch (error) {
      signal.throwIfAborted();
      if (response?.isComplete) return yield* response.finish();
      retryDelayMs = attempt.delayBeforeRetry(error, source);
    } finally {
      attempt.close();
    }
    await sleep(deps.clock, retryDelayMs, signal);
  }
}

interface Progress {
  attempts: number;
  /** True once an item was passed on. */
  hasStarted: boolean;
  /** The start by the monotonic clock. */
  readonly startedMs: number;
}

/** An attempt of a request, with its timeouts. */
class Attempt {
  readonly #deps: StreamDeps;
  readonly #abort: LinkedAbort;
  readonly #timeout: Watchdog;
  readonly #progress: Progress;
  #trailingTimer: Timer | undefined;

  constructor(deps: StreamDeps, signal: AbortSignal, progress: Progress) {
    const { clock, timeoutMs } = deps;
    this.#deps = deps;
    this.#abort = linkAbort(signal);
    this.#progress = progress;
    progress.attempts += 1;
    this.#timeout = createWatchdog(clock, timeoutMs, () =>
      this.#abort.abort(timeoutError(timeoutMs, progress.hasStarted)),
    );
    this.#timeout.start();
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  awaitNext(): void {
    this.signal.throwIfAborted();
    this.#timeout.start();
  }

  /** The reader's time does not count towards the timeout. */
  passOn(): void {
    this.#timeout.stop();
    if (this.#progress.hasStarted) return;
    this.#progress.hasStarted = true;
    const { clock, metrics } = this.#deps;
    metrics?.recordFirstOutput(clock.monotonicMs() - this.#progress.startedMs);
  }

  limitTrailingData(): void {
    this.#timeout.stop();
    const end = () => this.#abort.abort(new Error('the answer is complete'));
    this.#trailingTimer ??= this.#deps.clock.setTimer(end, TRAILING_DATA_TIMEOUT_MS);
  }

  /** @throws {ModelError} The failure, where the request must not be sent again. */
  delayBeforeRetry<Item>(error: unknown, source: StreamSource<Item>): number {
    const { hasStarted, attempts } = this.#progress;
    const failure = this.#toModelError(error, source);
    const delayMs = Math.max(RETRY_DELAY_MS, (failure.retryAfterSeconds ?? 0) * 1000);
    const mayRetry = !hasStarted && failure.retryable && attempts < MAX_ATTEMPTS;
    if (!mayRetry || delayMs > MAX_RETRY_DELAY_MS) {
      this.#deps.metrics?.recordError(failure);
      throw failure;
    }
    this.#deps.onRetry?.(failure);
    return delayMs;
  }

  close(): void {
    this.#timeout.close();
    this.#trailingTimer?.cancel();
    this.#abort.unlink();
    this.#abort.abort(new Error('the response is not read any further'));
  }

  /** A request that its timeout aborted failed by the timeout, whatever the vendor's client made of it. */
  #toModelError<Item>(error: unknown, source: StreamSource<Item>): ModelError {
    const { hasStarted } = this.#progress;
    const cause: unknown = this.signal.aborted ? this.signal.reason : error;
    if (!(cause instanceof ModelError)) return source.toModelError(cause, !hasStarted);
    return hasStarted && cause.beforeFirstToken ? cause.afterFirstToken() : cause;
  }
}

function timeoutError(timeoutMs: number, hasStarted: boolean): ModelError {
  const seconds = timeoutMs / 1000;
  const message = hasStarted
    ? `The model sent nothing for ${seconds} s in the middle of its answer`
    : `The model did not start to answer within ${seconds} s`;
  return new ModelError('model_unavailable', message, { beforeFirstToken: !hasStarted });
}
