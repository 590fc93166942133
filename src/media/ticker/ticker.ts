import type { Clock, Timer } from '../../base/values/clock.ts';
import type { DelayHistogram } from './delayHistogram.ts';
import { type Tick, TickSchedule } from './tickSchedule.ts';

/** Blocks the calling thread. Only for a thread of its own. */
export interface ThreadSleep {
  /** Calls back after pending I/O events were handled, without sleeping before. */
  afterEvents(callback: () => void): Timer;
  /** Blocks for `ms`, fractions allowed; I/O events wait. */
  sleep(ms: number): void;
}

export interface TickerOptions<Member> {
  readonly clock: Clock;
  readonly visit: (member: Member, tick: Tick) => void;
  /** A member failed; the others are visited all the same. */
  readonly onError: (error: unknown, member: Member) => void;
  /** Sleeps, on a thread that the ticker has to itself. Without it, ticks are as exact as the clock's timers. */
  readonly sleep?: ThreadSleep | undefined;
}

/**
 * Longest sleep before a tick. Packets gather meanwhile: each that wakes the thread by itself costs more than its audio.
 * Longer than the distance of two phases, so that a thread full of calls wakes once for each phase.
 */
const MAX_SLEEP_MS = 2.5;
/** A thread that sleeps longer than this beyond its tick had no processor. */
const MAX_OVERSLEPT_MS = 10;

/**
 * A thread's one timer. Timers are exact to a millisecond or two at best, so that the thread sleeps through the rest
 * where it may block.
 */
export class Ticker<Member> {
  readonly #clock: Clock;
  readonly #schedule: TickSchedule<Member>;
  readonly #sleep: ThreadSleep | undefined;
  #timer: Timer | undefined;
  #armedForMs = Number.POSITIVE_INFINITY;

  constructor({ clock, visit, onError, sleep }: TickerOptions<Member>) {
    this.#clock = clock;
    this.#sleep = sleep;
    this.#schedule = new TickSchedule({ startMs: clock.monotonicMs(), visit, onError });
  }

  get delays(): DelayHistogram {
    return this.#schedule.delays;
  }

  get skippedTicks(): number {
    return this.#schedule.skippedTicks;
  }

  /** Idempotent. */
  add(member: Member): void {
    this.#schedule.add(member, this.#clock.monotonicMs());
    this.#arm();
  }

  /** Idempotent; may be called during a visit. */
  remove(member: Member): void {
    this.#schedule.remove(member);
    this.#arm();
  }

  /** @see TickSchedule.advance */
  advance(member: Member, byMs: number): number {
    return this.#schedule.advance(member, byMs);
  }

  #run(): void {
    this.#schedule.run(this.#clock.monotonicMs());
    this.#rearm();
  }

  /** Sets the timer again after it has fired. */
  #rearm(): void {
    this.#timer = undefined;
    this.#armedForMs = Number.POSITIVE_INFINITY;
    this.#arm();
  }

  #arm(): void {
    const dueMs = this.#schedule.nextDueMs() ?? Number.POSITIVE_INFINITY;
    if (dueMs === this.#armedForMs) return;
    this.#timer?.cancel();
    this.#armedForMs = dueMs;
    this.#timer = dueMs === Number.POSITIVE_INFINITY ? undefined : this.#wakeAt(dueMs);
  }

  #wakeAt(dueMs: number): Timer {
    const waitMs = dueMs - this.#clock.monotonicMs();
    const sleep = this.#sleep;
    // Rounded up: a timer that fires early must be set again.
    if (sleep === undefined) return this.#clock.setTimer(() => this.#run(), Math.max(0, Math.ceil(waitMs)));
    // Early on purpose: the rest is slept. Where the thread had no processor, events come before the tick here too.
    if (waitMs > MAX_SLEEP_MS) return this.#clock.setTimer(() => this.#rearm(), Math.floor(waitMs - 1));
    return sleep.afterEvents(() => {
      sleep.sleep(dueMs - this.#clock.monotonicMs());
      // Packets that came during a sleep that was too long belong to this tick.
      if (this.#clock.monotonicMs() - dueMs < MAX_OVERSLEPT_MS) this.#run();
      else this.#timer = sleep.afterEvents(() => this.#run());
    });
  }
}

export function createThreadSleep(): ThreadSleep {
  // Never notified: each wait ends by its timeout.
  const unchanged = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  return {
    afterEvents(callback) {
      const handle = setImmediate(callback);
      return { cancel: () => clearImmediate(handle) };
    },
    sleep(ms) {
      if (ms > 0) Atomics.wait(unchanged, 0, 0, ms);
    },
  };
}
