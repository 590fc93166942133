import { repeat } from '../../base/async/repeat.ts';
import type { Clock, Timer } from '../../base/values/clock.ts';
import type { Queryable } from './connection/database.ts';

export interface DatabaseClockOptions {
  readonly system: Clock;
  /** The system clock differs from the database's, or does so no longer. */
  readonly onOffset: (offsetMs: number) => void;
  readonly onError: (error: unknown, what: string) => void;
}

const SYNC_MS = 10_000;
/** The fastest of these counts: its answer is the least uncertain. */
const SAMPLES = 3;
/** Reported when the system clock is off by more. */
const NOTABLE_OFFSET_MS = 1_000;

/**
 * The database's time, for all that nodes compare: heartbeats, leases, due times, timestamps. Between two readings it
 * follows the monotonic clock, so that a step of the system clock changes nothing. Until the first reading, and with a
 * database that is away from the start on, it is the system's time.
 */
export class DatabaseClock implements Clock {
  readonly #options: DatabaseClockOptions;
  /** The database's time at zero of the monotonic clock. */
  #epochMs: number;
  #reportedMs = 0;

  constructor(options: DatabaseClockOptions) {
    this.#options = options;
    this.#epochMs = options.system.now() - options.system.monotonicMs();
  }

  /** Reads the database's clock now and every ten seconds. @returns A function that stops it; idempotent. */
  async follow(database: Queryable): Promise<() => Promise<void>> {
    const { system, onError } = this.#options;
    const failed = (error: unknown) => onError(error, 'clock of the database not read, retrying');
    await this.#sync(database).catch(failed);
    return repeat(system, SYNC_MS, () => this.#sync(database), failed);
  }

  // Passed on as functions, so that they are bound.
  readonly now = (): number => Math.floor(this.#epochMs + this.monotonicMs());
  readonly monotonicMs = (): number => this.#options.system.monotonicMs();
  readonly setTimer = (callback: () => void, delayMs: number): Timer =>
    this.#options.system.setTimer(callback, delayMs);

  /** Converts a recent time of the system clock, as another thread reports it. */
  fromSystem(systemMs: number): number {
    return systemMs + this.now() - this.#options.system.now();
  }

  /** The time by which the system clock is ahead. */
  get offsetMs(): number {
    return this.#options.system.now() - this.now();
  }

  async #sync(database: Queryable): Promise<void> {
    let best = { epochMs: 0, uncertaintyMs: Number.POSITIVE_INFINITY };
    for (let sample = 0; sample < SAMPLES; sample++) {
      const sentMs = this.monotonicMs();
      const [row] = await database.query<{ ms: string | number }>(
        'SELECT extract(epoch FROM clock_timestamp()) * 1000 AS ms',
      );
      const uncertaintyMs = (this.monotonicMs() - sentMs) / 2;
      if (row && uncertaintyMs < best.uncertaintyMs) {
        best = { epochMs: Number(row.ms) - (sentMs + uncertaintyMs), uncertaintyMs };
      }
    }
    // Within the uncertainty the time keeps its pace, so that timestamps never go back by a slow reading.
    if (Math.abs(best.epochMs - this.#epochMs) > best.uncertaintyMs + 1) this.#epochMs = best.epochMs;
    this.#report();
  }

  #report(): void {
    const offsetMs = Math.round(this.offsetMs);
    const isNotable = (ms: number) => Math.abs(ms) > NOTABLE_OFFSET_MS;
    const hasChanged = Math.abs(offsetMs - this.#reportedMs) > NOTABLE_OFFSET_MS;
    if (!hasChanged || !(isNotable(offsetMs) || isNotable(this.#reportedMs))) return;
    this.#reportedMs = isNotable(offsetMs) ? offsetMs : 0;
    this.#options.onOffset(this.#reportedMs);
  }
}
