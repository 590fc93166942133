import { LRUCache } from 'lru-cache';
import { CallwayError } from '../errors.ts';
import type { Clock } from '../values/clock.ts';
import { sleep } from './sleep.ts';
import { startStopwatch } from './stopwatch.ts';

/** A project's templates and expressions may take a tenth of the event loop, and `BURST_MS` at once. */
const REFILL_MS_PER_MS = 0.1;
const BURST_MS = 30;
/** Debt at which evaluations are refused until some of it is paid; before that, new turns wait. */
const REFUSED_DEBT_MS = 50;
const MAX_DEBT_MS = 150;
/** A longer evaluation holds up other projects noticeably, and costs more than its time. */
const LONG_MS = 10;
const LONG_FACTOR = 5;
/** The first long evaluation in this time counts no more than one that is not long: it may be a garbage collection. */
const LONG_MEMORY_MS = 10_000;
const MAX_PROJECTS = 10_000;

/** One project's share of the event loop, for what its users write. */
export interface ComputeShare {
  /**
   * Runs a synchronous evaluation and counts its time.
   *
   * @param atLeastMs - The least time that it counts, for work that it causes later.
   * @throws {CallwayError} 429 `project_busy` when the share is used up; and what the work throws.
   */
  run<Result>(work: () => Result, atLeastMs?: number): Result;
  /**
   * Waits until the project may begin another turn: a second and a half at most for those before it.
   *
   * @throws The signal's reason.
   */
  ready(signal: AbortSignal): Promise<void>;
}

export interface ComputeSharesDeps {
  readonly clock: Clock;
  /** Measures evaluations. */
  readonly startStopwatch?: () => { elapsedMs(): number };
}

export class ComputeShares {
  readonly #deps: ComputeSharesDeps;
  readonly #shares = new LRUCache<string, Share>({ max: MAX_PROJECTS });

  constructor(deps: ComputeSharesDeps) {
    this.#deps = deps;
  }

  of(projectId: string): ComputeShare {
    const known = this.#shares.get(projectId);
    if (known) return known;
    const share = new Share(this.#deps);
    this.#shares.set(projectId, share);
    return share;
  }
}

/** A token bucket that may be overdrawn. */
class Share implements ComputeShare {
  readonly #clock: Clock;
  readonly #startStopwatch: () => { elapsedMs(): number };
  #levelMs = BURST_MS;
  #filledAtMs: number;
  #longAtMs = Number.NEGATIVE_INFINITY;

  constructor({ clock, startStopwatch: start = startStopwatch }: ComputeSharesDeps) {
    this.#clock = clock;
    this.#startStopwatch = start;
    this.#filledAtMs = clock.monotonicMs();
  }

  run<Result>(work: () => Result, atLeastMs = 0): Result {
    this.#refill();
    if (this.#levelMs < -REFUSED_DEBT_MS) throw this.#busy();
    const stopwatch = this.#startStopwatch();
    try {
      return work();
    } finally {
      const tookMs = stopwatch.elapsedMs();
      this.#levelMs = Math.max(-MAX_DEBT_MS, this.#levelMs - Math.max(this.#priceMs(tookMs), atLeastMs));
    }
  }

  #priceMs(tookMs: number): number {
    if (tookMs <= LONG_MS) return tookMs;
    const isRepeated = this.#filledAtMs - this.#longAtMs < LONG_MEMORY_MS;
    this.#longAtMs = this.#filledAtMs;
    return isRepeated ? tookMs * LONG_FACTOR : LONG_MS;
  }

  async ready(signal: AbortSignal): Promise<void> {
    this.#refill();
    if (this.#levelMs >= 0) return;
    await sleep(this.#clock, Math.ceil(-this.#levelMs / REFILL_MS_PER_MS), signal);
  }

  #refill(): void {
    const nowMs = this.#clock.monotonicMs();
    const filledMs = this.#levelMs + (nowMs - this.#filledAtMs) * REFILL_MS_PER_MS;
    this.#levelMs = Math.min(BURST_MS, filledMs);
    this.#filledAtMs = nowMs;
  }

  #busy(): CallwayError {
    const message =
      'The templates and expressions of this project take too much time; make them simpler, or try again later';
    return new CallwayError('rate_limited', 'project_busy', message, {
      retryAfterSeconds: Math.ceil(Math.max(0, -this.#levelMs) / REFILL_MS_PER_MS / 1000) || 1,
    });
  }
}
