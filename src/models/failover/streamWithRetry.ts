import { linkAbort } from '../../base/async/linkedAbort.ts';
import type { Clock, Timer } from '../../base/values/clock.ts';
import type { ProviderMetrics } from '../ports/metrics.ts';
import { ModelError } from '../ports/modelError.ts';
import { streamWithFailover } from './streamWithFailover.ts';

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
  /** Default: {@link MAX_ATTEMPTS}. */
  readonly attempts?: number | undefined;
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
export function streamWithRetry<Item>(
  source: StreamSource<Item>,
  { clock, timeoutMs, attempts = MAX_ATTEMPTS, onRetry, metrics }: StreamDeps,
  signal: AbortSignal,
): AsyncGenerator<Item, void> {
  return streamWithFailover(
    {
      candidates: [{ model: source, name: '', metrics, attempts }],
      clock,
      ask: ({ model }, attemptSignal) => itemsOf(model, clock, attemptSignal),
      firstOutputMs: () => timeoutMs,
      gapMs: timeoutMs,
      late: lateAnswer,
      retry: { firstDelayMs: RETRY_DELAY_MS, longestDelayMs: MAX_RETRY_DELAY_MS },
      onRetry,
    },
    signal,
  );
}

/** Describes a model whose answer did not start, or go on, in time. */
export function lateAnswer(timeoutMs: number, hasStarted: boolean): string {
  const seconds = timeoutMs / 1000;
  return hasStarted
    ? `The model sent nothing for ${seconds} s in the middle of its answer`
    : `The model did not start to answer within ${seconds} s`;
}

/** Reads one response. An answer that is complete does not fail any more. */
async function* itemsOf<Item>(
  source: StreamSource<Item>,
  clock: Clock,
  signal: AbortSignal,
): AsyncGenerator<Item, void> {
  const abort = linkAbort(signal);
  let response: StreamedResponse<Item> | undefined;
  let hasStarted = false;
  let trailing: Timer | undefined;
  try {
    response = await source.open(abort.signal);
    for await (const chunk of response.chunks) {
      for (const item of response.decode(chunk)) {
        hasStarted = true;
        yield item;
      }
      const end = () => abort.abort(new Error('the answer is complete'));
      if (response.isComplete) trailing ??= clock.setTimer(end, TRAILING_DATA_TIMEOUT_MS);
    }
    yield* response.finish();
  } catch (error) {
    if (response?.isComplete) yield* response.finish();
    else throw error instanceof ModelError ? error : source.toModelError(error, !hasStarted);
  } finally {
    trailing?.cancel();
    abort.unlink();
    abort.abort(new Error('the response is not read any further'));
  }
}
