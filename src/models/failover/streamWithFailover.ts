import { type LinkedAbort, linkAbort } from '../../base/async/linkedAbort.ts';
import { sleep } from '../../base/async/sleep.ts';
import type { Clock } from '../../base/values/clock.ts';
import { ModelError } from '../ports/modelError.ts';
import type { Breakers } from './circuitBreaker.ts';
import { type Candidate, Failover, type OnFallback } from './failover.ts';

/** A request that any of its candidates can answer. */
export interface FailoverRequest<Model, Output> {
  /** The candidates in the order of preference; at least one. */
  readonly candidates: readonly Candidate<Model>[];
  readonly clock: Clock;
  readonly breakers?: Breakers | undefined;
  readonly onFallback?: OnFallback<Model> | undefined;
  /** Asks a candidate, with the whole request, with the first read. It fails by throwing a {@link ModelError}. */
  readonly ask: (candidate: Candidate<Model>, signal: AbortSignal) => AsyncIterable<Output>;
  /**
   * Returns the timeout of the first output; undefined for none.
   *
   * @param waitedMs - The time since the candidate was asked first.
   */
  readonly firstOutputMs: (
    candidate: Candidate<Model>,
    hasNext: boolean,
    waitedMs: number,
  ) => number | undefined;
  /** The timeout between two outputs, to which the reader's time does not count. Default: none. */
  readonly gapMs?: number | undefined;
  /** Returns true when an answer with this output has started, which no other candidate takes over. Default: always. */
  readonly isOutput?: ((output: Output) => boolean) | undefined;
  /** Describes a candidate that was late. */
  readonly late: (timeoutMs: number, hasStarted: boolean) => string;
  /** The delay before a candidate is asked again, which doubles with each attempt. Default: none. */
  readonly retry?: { readonly firstDelayMs: number; readonly longestDelayMs: number } | undefined;
  /** Reports each failure that another attempt follows. */
  readonly onRetry?: ((error: ModelError) => void) | undefined;
}

const NO_DELAY = { firstDelayMs: 0, longestDelayMs: 0 };

/**
 * Streams the answer of the first candidate that gives one. A candidate that fails before its first output is asked
 * again where that may help, and then left for the next one; an answer that has started is never started again.
 *
 * @param signal - Aborts the stream: a pending read rejects with the signal's reason.
 * @throws {ModelError} The last candidate's failure, or that of an answer that had started.
 */
export async function* streamWithFailover<Model, Output>(
  request: FailoverRequest<Model, Output>,
  signal: AbortSignal,
): AsyncGenerator<Output, void> {
  signal.throwIfAborted();
  const attempts = new Attempts(request);
  for (;;) {
    let delayMs: number;
    try {
      yield* attempts.next(signal);
      return;
    } catch (error) {
      signal.throwIfAborted();
      delayMs = attempts.delayAfter(error);
    }
    if (delayMs > 0) await sleep(request.clock, delayMs, signal);
  }
}

/** Returns the answer of the first candidate that gives one, as {@link streamWithFailover} does. */
export async function requestWithFailover<Model, Answer>(
  request: Omit<FailoverRequest<Model, Answer>, 'ask'> & {
    readonly ask: (candidate: Candidate<Model>, signal: AbortSignal) => Promise<Answer>;
  },
  signal: AbortSignal,
): Promise<Answer> {
  const ask = async function* (candidate: Candidate<Model>, attemptSignal: AbortSignal) {
    yield await request.ask(candidate, attemptSignal);
  };
  const answers: Answer[] = [];
  for await (const answer of streamWithFailover({ ...request, ask }, signal)) answers.push(answer);
  return answers[0] as Answer;
}

class Attempts<Model, Output> {
  readonly #request: FailoverRequest<Model, Output>;
  readonly #failover: Failover<Model>;
  #abort: LinkedAbort | undefined;
  /** The attempts with the current candidate, and when the first one began. */
  #count = 0;
  #askedAtMs: number;
  #hasStarted = false;

  constructor(request: FailoverRequest<Model, Output>) {
    const { candidates, clock, breakers, onFallback } = request;
    const onLate = (error: ModelError) => this.#abort?.abort(error);
    this.#request = request;
    this.#failover = new Failover(candidates, { clock, breakers, onFallback, onLate });
    this.#askedAtMs = clock.monotonicMs();
  }

  /** Asks the current candidate. */
  async *next(signal: AbortSignal): AsyncGenerator<Output, void> {
    const { ask, gapMs } = this.#request;
    const failover = this.#failover;
    const abort = linkAbort(signal);
    this.#abort = abort;
    this.#count += 1;
    try {
      this.#expect(this.#firstOutputMs());
      for await (const output of ask(failover.current, abort.signal)) {
        this.#note(output);
        if (this.#hasStarted) failover.stopWaiting();
        yield output;
        abort.signal.throwIfAborted();
        if (this.#hasStarted) this.#expect(gapMs);
      }
      failover.succeeded();
    } catch (error) {
      throw abort.signal.aborted ? abort.signal.reason : error;
    } finally {
      failover.close();
      abort.unlink();
      abort.abort(new Error('the response is not read any further'));
    }
  }

  /** @returns The delay before the next attempt. @throws The failure where none follows. */
  delayAfter(failure: unknown): number {
    const { retry, onRetry, clock } = this.#request;
    const { current } = this.#failover;
    if (!(failure instanceof ModelError)) throw failure;
    if (this.#hasStarted) {
      this.#failover.record(failure);
      throw failure.beforeFirstToken ? failure.afterFirstToken() : failure;
    }
    const mayRetry = this.#count < (current.attempts ?? 1) && (this.#firstOutputMs() ?? 1) > 0;
    let delayMs = mayRetry ? delayBefore(this.#count, failure, retry) : undefined;
    if (delayMs === undefined) {
      if (!this.#failover.fail(failure)) throw failure;
      this.#count = 0;
      this.#askedAtMs = clock.monotonicMs();
      delayMs = 0;
    }
    onRetry?.(failure);
    return delayMs;
  }

  #note(output: Output): void {
    if (this.#hasStarted || this.#request.isOutput?.(output) === false) return;
    this.#hasStarted = true;
    this.#failover.current.metrics?.recordFirstOutput(this.#waitedMs());
  }

  #firstOutputMs(): number | undefined {
    const { current, next } = this.#failover;
    return this.#request.firstOutputMs(current, next !== undefined, this.#waitedMs());
  }

  #waitedMs(): number {
    return this.#request.clock.monotonicMs() - this.#askedAtMs;
  }

  #expect(timeoutMs: number | undefined): void {
    if (timeoutMs === undefined) return;
    this.#failover.expect(timeoutMs, this.#request.late(timeoutMs, this.#hasStarted));
  }
}

/** @returns The delay that the endpoint asks for, or ours; undefined when the request must not be sent again. */
function delayBefore(
  attempt: number,
  { retryable, retryAfterSeconds = 0 }: ModelError,
  { firstDelayMs, longestDelayMs } = NO_DELAY,
): number | undefined {
  const delayMs = Math.max(firstDelayMs * 2 ** (attempt - 1), retryAfterSeconds * 1000);
  return retryable && delayMs <= longestDelayMs ? delayMs : undefined;
}
