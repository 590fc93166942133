import { DelayHistogram } from './delayHistogram.ts';

/** What a member is told at its tick; valid during the visit only. */
export interface Tick {
  /** When it should have been: absolute, so that nothing drifts. */
  readonly deadlineMs: number;
  readonly lateMs: number;
  /** Ticks of this member that were given up just now, since they were too late to be of use. */
  readonly skippedTicks: number;
}

export interface TickScheduleOptions<Member> {
  /** Deadlines are counted from here; on a clock that never goes back. */
  readonly startMs: number;
  readonly visit: (member: Member, tick: Tick) => void;
  /** One member's failure; the others are visited all the same. */
  readonly onError: (error: unknown, member: Member) => void;
}

interface Phase<Member> {
  readonly members: Set<Member>;
  deadlineMs: number;
  /** The members' last packets left so recently that the next would come in a burst. */
  notBeforeMs: number;
}

/** Packets of 20 ms, as nearly all telephony has them. */
export const TICK_INTERVAL_MS = 20;
/** One every two milliseconds: a tick's work is spread over the whole interval, and is worth waking up for. */
const PHASES = 10;
/** When late, one call's packets leave at twice the pace at most, never together. */
const MIN_SPACING_MS = TICK_INTERVAL_MS / 2;
/** A stall longer than this many ticks is not made up for: the peer's jitter buffer has given those packets up. */
const MAX_TICKS_BEHIND = 5;

/**
 * Who is to send now. One timer serves all calls of a thread: they are spread over 10 phases, each phase has a deadline
 * every 20 ms counted from the start, and a late phase catches up at double pace rather than in a burst.
 *
 * Time is an argument: whoever owns a timer sleeps until `nextDueMs` and then calls `run`.
 */
export class TickSchedule<Member> {
  readonly lateness = new DelayHistogram();
  /** Over all members. */
  skippedTicks = 0;
  readonly #startMs: number;
  readonly #visit: (member: Member, tick: Tick) => void;
  readonly #onError: (error: unknown, member: Member) => void;
  readonly #phases: readonly Phase<Member>[];
  readonly #phaseOf = new Map<Member, Phase<Member>>();
  readonly #tick = { deadlineMs: 0, lateMs: 0, skippedTicks: 0 };

  constructor(options: TickScheduleOptions<Member>) {
    this.#startMs = options.startMs;
    this.#visit = options.visit;
    this.#onError = options.onError;
    this.#phases = Array.from({ length: PHASES }, (_, index) => ({
      members: new Set<Member>(),
      deadlineMs: this.#startMs + (index * TICK_INTERVAL_MS) / PHASES,
      notBeforeMs: Number.NEGATIVE_INFINITY,
    }));
  }

  get size(): number {
    return this.#phaseOf.size;
  }

  /** Joins the emptiest phase; the first tick is its next deadline. A member that is in already stays where it is. */
  add(member: Member, nowMs: number): void {
    if (this.#phaseOf.has(member)) return;
    const phase = this.#phases.reduce((emptiest, next) =>
      next.members.size < emptiest.members.size ? next : emptiest,
    );
    if (phase.members.size === 0) {
      const missed = Math.ceil((nowMs - phase.deadlineMs) / TICK_INTERVAL_MS);
      phase.deadlineMs += Math.max(0, missed) * TICK_INTERVAL_MS;
    }
    phase.members.add(member);
    this.#phaseOf.set(member, phase);
  }

  /** Idempotent; may be called from within a visit. */
  remove(member: Member): void {
    this.#phaseOf.get(member)?.members.delete(member);
    this.#phaseOf.delete(member);
  }

  /** When `run` should be called next; undefined while there are no members. */
  nextDueMs(): number | undefined {
    let nextMs: number | undefined;
    for (const phase of this.#phases) {
      if (phase.members.size === 0) continue;
      const dueMs = Math.max(phase.deadlineMs, phase.notBeforeMs);
      if (nextMs === undefined || dueMs < nextMs) nextMs = dueMs;
    }
    return nextMs;
  }

  /** Visits every member that is due, each at most once. */
  run(nowMs: number): void {
    for (const phase of this.#phases) {
      if (phase.members.size === 0) continue;
      if (nowMs >= phase.deadlineMs && nowMs >= phase.notBeforeMs) this.#runPhase(phase, nowMs);
    }
  }

  #runPhase(phase: Phase<Member>, nowMs: number): void {
    const behind = Math.floor((nowMs - phase.deadlineMs) / TICK_INTERVAL_MS);
    const skipped = behind > MAX_TICKS_BEHIND ? behind : 0;
    phase.deadlineMs += skipped * TICK_INTERVAL_MS;
    this.skippedTicks += skipped * phase.members.size;
    this.#tick.deadlineMs = phase.deadlineMs;
    this.#tick.lateMs = nowMs - phase.deadlineMs;
    this.#tick.skippedTicks = skipped;
    this.lateness.add(this.#tick.lateMs, phase.members.size);
    phase.deadlineMs += TICK_INTERVAL_MS;
    phase.notBeforeMs = nowMs + MIN_SPACING_MS;
    for (const member of phase.members) {
      try {
        this.#visit(member, this.#tick);
      } catch (error) {
        this.#onError(error, member);
      }
    }
  }
}
