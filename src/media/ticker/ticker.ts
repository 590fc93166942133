import type { Clock, Timer } from '../../base/clock.ts';
import type { DelayHistogram } from './delayHistogram.ts';
import type { ThreadSleep } from './threadSleep.ts';
import { type Tick, TickSchedule } from './tickSchedule.ts';

export interface TickerOptions<Member> {
  readonly clock: Clock;
  readonly visit: (member: Member, tick: Tick) => void;
  /** One member's failure; the others are visited all the same. */
  readonly onError: (error: unknown, member: Member) => void;
  /** Of the thread, where it is the ticker's alone; without it ticks are as exact as the clock's timers. */
  readonly rest?: ThreadSleep;
}

/**
 * The thread stands still for so long before a tick at most, and packets gather: each that wakes it by itself costs more
 * than its audio does, and none is heard before a tick anyhow. Longer than phases lie apart, so that a thread full of
 * calls wakes once for each of them.
 */
const GATHER_MS = 2.5;

/**
 * The one timer of a thread: sleeps until the next phase of the schedule is due. A timer is exact to a millisecond or two
 * at best, so that the last ones are slept through where the thread may be stopped.
 */
export class Ticker<Member> {
  readonly #clock: Clock;
  readonly #schedule: TickSchedule<Member>;
  readonly #rest: ThreadSleep | undefined;
  #timer: Timer | undefined;
  #armedForMs = Number.POSITIVE_INFINITY;

  constructor({ clock, visit, onError, rest }: TickerOptions<Member>) {
    this.#clock = clock;
    this.#rest = rest;
    this.#schedule = new TickSchedule({ startMs: clock.monotonicMs(), visit, onError });
  }

  get lateness(): DelayHistogram {
    return this.#schedule.lateness;
  }

  get skippedTicks(): number {
    return this.#schedule.skippedTicks;
  }

  /** Idempotent. */
  add(member: Member): void {
    this.#schedule.add(member, this.#clock.monotonicMs());
    this.#arm();
  }

  /** Idempotent; may be called from within a visit. */
  remove(member: Member): void {
    this.#schedule.remove(member);
    this.#arm();
  }

  #run(): void {
    this.#timer = undefined;
    this.#armedForMs = Number.POSITIVE_INFINITY;
    this.#schedule.run(this.#clock.monotonicMs());
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
    const rest = this.#rest;
    // Rounded up: a timer that rings early must be set again, and is later than one that was set right.
    if (rest === undefined) return this.#setTimer(Math.max(0, Math.ceil(waitMs)));
    // Early on purpose: what is left is slept through.
    if (waitMs > GATHER_MS) return this.#setTimer(Math.floor(waitMs - 1));
    return rest.afterEvents(() => {
      rest.sleep(dueMs - this.#clock.monotonicMs());
      this.#run();
    });
  }

  #setTimer(waitMs: number): Timer {
    return this.#clock.setTimer(() => this.#run(), waitMs);
  }
}
