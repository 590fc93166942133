import type { Clock, Timer } from '../../base/clock.ts';
import type { LatenessHistogram } from './latenessHistogram.ts';
import { type Tick, TickSchedule } from './tickSchedule.ts';

export interface TickerOptions<Member> {
  readonly clock: Clock;
  readonly visit: (member: Member, tick: Tick) => void;
  /** One member's failure; the others are visited all the same. */
  readonly onError: (error: unknown, member: Member) => void;
}

/** The one timer of a thread: sleeps until the next phase of the schedule is due. */
export class Ticker<Member> {
  readonly #clock: Clock;
  readonly #schedule: TickSchedule<Member>;
  #timer: Timer | undefined;
  #armedForMs = Number.POSITIVE_INFINITY;

  constructor({ clock, visit, onError }: TickerOptions<Member>) {
    this.#clock = clock;
    this.#schedule = new TickSchedule({ startMs: clock.monotonicMs(), visit, onError });
  }

  get lateness(): LatenessHistogram {
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
    // Rounded up: a timer that rings early must be set again, and is later than one that was set right.
    const waitMs = Math.max(0, Math.ceil(dueMs - this.#clock.monotonicMs()));
    this.#timer = dueMs === Number.POSITIVE_INFINITY ? undefined : this.#setTimer(waitMs);
  }

  #setTimer(waitMs: number): Timer {
    return this.#clock.setTimer(() => this.#run(), waitMs);
  }
}
