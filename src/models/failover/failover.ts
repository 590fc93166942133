import { createWatchdog, type Watchdog } from '../../base/async/watchdog.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { ProviderMetrics } from '../ports/metrics.ts';
import { ModelError, skippedError } from '../ports/modelError.ts';
import type { Breakers } from './circuitBreaker.ts';

/** One of the models that can do the same work. */
export interface Candidate<Model> {
  readonly model: Model;
  /** The name that events tell, such as `deepgram`. */
  readonly name: string;
  /** The key of its circuit breaker; a candidate without one is never skipped. */
  readonly breaker?: string | undefined;
  readonly metrics?: ProviderMetrics | undefined;
  /** The requests in a row before the next candidate is tried. Default: one. */
  readonly attempts?: number | undefined;
}

/** Called when a candidate was left for another one, or for a new connection to itself. */
export type OnFallback<Model> = (from: Candidate<Model>, to: Candidate<Model>, error: ModelError) => void;

export interface FailoverDeps<Model> {
  readonly clock: Clock;
  /** Undefined where the candidates have none. */
  readonly breakers?: Breakers | undefined;
  readonly onFallback?: OnFallback<Model> | undefined;
  /** The current candidate was late. */
  readonly onLate: (error: ModelError) => void;
}

/**
 * Leads one request, or one connection, through the models that can do it, in their order. The candidates that failed
 * for others a moment ago are skipped, unless all did.
 *
 * ```text
 *   current ──expect──▶ awaited ──stopWaiting──▶ current ──succeeded──▶ current
 *      ▲                   │ late: onLate           │
 *      │                   ▼                        ▼
 *      └── another ──── fail, suspect ◀─────────────┘
 *                          └── undefined: no other candidate is left
 * ```
 *
 * Each change is told by `onFallback`, here alone, after `current` has changed.
 */
export class Failover<Model> {
  readonly #candidates: readonly Candidate<Model>[];
  readonly #deps: FailoverDeps<Model>;
  readonly #deadline: Watchdog;
  #current: Candidate<Model>;
  /** Whether all candidates were skipped, so that each is tried. */
  #isForced = false;
  /** What is told of a candidate that is late. */
  #problem = '';
  /** A candidate that was left without a proof that it failed. */
  #suspect: { readonly candidate: Candidate<Model>; readonly error: ModelError } | undefined;

  /** @throws {RangeError} Without candidates. */
  constructor(candidates: readonly Candidate<Model>[], deps: FailoverDeps<Model>) {
    const [first] = candidates;
    if (!first) throw new RangeError('a failover needs a candidate');
    this.#candidates = candidates;
    this.#deps = deps;
    this.#current = first;
    this.#deadline = createWatchdog(deps.clock, 0, () =>
      deps.onLate(new ModelError('model_unavailable', this.#problem)),
    );
    this.#choose(first);
  }

  get current(): Candidate<Model> {
    return this.#current;
  }

  /** The candidate that would follow the current one. */
  get next(): Candidate<Model> | undefined {
    const later = this.#candidates.slice(this.#candidates.indexOf(this.#current) + 1);
    return later.find((one) => this.#isClosed(one)) ?? (this.#isForced ? later[0] : undefined);
  }

  /**
   * Starts, or starts again, with the first candidate that is not skipped. It tells of those that are skipped, which a
   * request does not, since its conversation has others.
   */
  start(): void {
    const [first = this.#current] = this.#candidates;
    this.#choose(first);
    if (this.#current !== first) this.#deps.onFallback?.(first, this.#current, skippedError());
  }

  /** Waits for the current candidate: it is late when nothing stops the wait in time. */
  expect(timeoutMs: number, problem: string): void {
    this.#problem = problem;
    this.#deadline.start(timeoutMs);
  }

  stopWaiting(): void {
    this.#deadline.stop();
  }

  /** The current candidate has done its work, which proves that a suspect before it has failed. */
  succeeded(): void {
    const { breaker } = this.#current;
    if (breaker !== undefined) this.#deps.breakers?.succeeded(breaker);
    const suspect = this.#suspect;
    this.#suspect = undefined;
    if (suspect && suspect.candidate !== this.#current) this.#record(suspect.candidate, suspect.error);
  }

  /** Records a failure of the current candidate, which is not left. */
  record(error: ModelError): void {
    this.#record(this.#current, error);
  }

  /** Records a failure of the current candidate. @returns The next one; undefined when none is left. */
  fail(error: ModelError): Candidate<Model> | undefined {
    this.record(error);
    return this.#moveTo(this.next, error);
  }

  /**
   * Leaves the current candidate, which has failed if the next one succeeds.
   *
   * @returns The next one; undefined when none is left.
   */
  suspect(error: ModelError): Candidate<Model> | undefined {
    const { current, next } = this;
    if (next) this.#suspect = { candidate: current, error };
    return this.#moveTo(next, error);
  }

  /** Uses the current candidate again, by another connection. */
  again(error: ModelError): Candidate<Model> {
    this.#moveTo(this.#current, error);
    return this.#current;
  }

  /** Cancels the wait. Idempotent. */
  close(): void {
    this.#deadline.close();
  }

  #choose(first: Candidate<Model>): void {
    const working = this.#candidates.find((one) => this.#isClosed(one));
    this.#isForced = !working;
    this.#current = working ?? first;
  }

  #moveTo(to: Candidate<Model> | undefined, error: ModelError): Candidate<Model> | undefined {
    this.#deadline.stop();
    if (!to) return undefined;
    const from = this.#current;
    this.#current = to;
    this.#deps.onFallback?.(from, to, error);
    return to;
  }

  #record({ breaker, metrics }: Candidate<Model>, error: ModelError): void {
    metrics?.recordError(error);
    if (breaker !== undefined) this.#deps.breakers?.failed(breaker);
  }

  #isClosed({ breaker }: Candidate<Model>): boolean {
    return breaker === undefined || (this.#deps.breakers?.isClosed(breaker) ?? true);
  }
}
