import { DelayHistogram } from './delayHistogram.ts';

/** A tick, valid during the visit only. */
export interface Tick {
  /** The time at which the tick was due. It is absolute, so that nothing drifts. */
  readonly deadlineMs: number;
  readonly lateMs: number;
  /** The member's ticks that were just given up as too late. */
  readonly skippedTicks: number;
}

export interface TickScheduleOptions<Member> {
  /** The origin of all deadlines, on a monotonic clock. */
  readonly startMs: number;
  readonly visit: (member: Member, tick: Tick) => void;
  /** A member failed; the others are visited all the same. */
  readonly onError: (error: unknown, member: Member) => void;
}

interface Phase<Member> {
  readonly members: Set<Member>;
  deadlineMs: number;
  /** Earlier packets would form a burst with the last ones. */
  notBeforeMs: number;
}

/** The interval of ticks, which is telephony's packet duration. */
export const TICK_INTERVAL_MS = 20;
/**
 * The number of phases. A phase every 2 ms spreads a tick's work over the interval, and still has enough work for each
 * wake-up.
 */
const PHASES = 10;
const PHASE_DISTANCE_MS = TICK_INTERVAL_MS / PHASES;
/** A late call catches up at twice the pace at most. */
const MIN_SPACING_MS = TICK_INTERVAL_MS / 2;
/** Members of a phase beyond the mean: a crowded one delays its last members. */
const MAX_CROWDING = 1.5;
/** Ticks of a longer stall are skipped: the peer's jitter buffer has given up their packets. */
const MAX_TICKS_BEHIND = 5;

/**
 * Schedules the ticks of a thread's calls with one timer. Calls are spread over 10 phases, each with a deadline every
 * 20 ms counted from the start; a late phase catches up at double pace rather than in a burst.
 *
 * Time is an argument: the owner of the timer waits until `nextDueMs` and calls `run`.
 */
export class TickSchedule<Member> {
  /**
   * The delays of all ticks. A skipped tick is as late as the stall that skipped it, since its packet is never sent.
   */
  readonly delays = new DelayHistogram();
  /** The skipped ticks of all members. */
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

  /** Adds a member to the emptiest phase; its first tick is the phase's next deadline. Idempotent. */
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

  /** Idempotent; may be called during a visit. */
  remove(member: Member): void {
    this.#phaseOf.get(member)?.members.delete(member);
    this.#phaseOf.delete(member);
  }

  /**
   * Lets a member tick sooner from its next tick on, as far as other phases have room. Call it during the member's visit.
   *
   * @param byMs - The longest advance; it is limited to half the interval.
   * @returns The actual advance in ms.
   */
  advance(member: Member, byMs: number): number {
    const from = this.#phaseOf.get(member);
    // The next tick of a late one would follow at once.
    if (from === undefined || this.#tick.lateMs > MIN_SPACING_MS) return 0;
    const index = this.#phases.indexOf(from);
    for (let steps = Math.floor(Math.min(byMs, MIN_SPACING_MS) / PHASE_DISTANCE_MS); steps > 0; steps--) {
      const to = this.#phases.at(index - steps);
      if (to === undefined || to.members.size + 1 > 1 + (MAX_CROWDING * this.size) / PHASES) continue;
      const deadlineMs = from.deadlineMs - steps * PHASE_DISTANCE_MS;
      if (to.members.size === 0) to.deadlineMs = deadlineMs;
      // That phase is late: the member would tick twice.
      if (to.deadlineMs < deadlineMs) continue;
      from.members.delete(member);
      to.members.add(member);
      this.#phaseOf.set(member, to);
      return steps * PHASE_DISTANCE_MS;
    }
    return 0;
  }

  /** Returns the time at which to call `run` next; undefined without members. */
  nextDueMs(): number | undefined {
    let nextMs: number | undefined;
    for (const phase of this.#phases) {
      if (phase.members.size === 0) continue;
      const dueMs = Math.max(phase.deadlineMs, phase.notBeforeMs);
      if (nextMs === undefined || dueMs < nextMs) nextMs = dueMs;
    }
    return nextMs;
  }

  /** Visits each due member once. */
  run(nowMs: number): void {
    for (const phase of this.#phases) {
      if (phase.members.size === 0) continue;
      if (nowMs >= phase.deadlineMs && nowMs >= phase.notBeforeMs) this.#runPhase(phase, nowMs);
    }
  }

  #runPhase(phase: Phase<Member>, nowMs: number): void {
    const behind = Math.floor((nowMs - phase.deadlineMs) / TICK_INTERVAL_MS);
    const skipped = behind > MAX_TICKS_BEHIND ? behind : 0;
    if (skipped > 0) this.delays.add(nowMs - phase.deadlineMs, skipped * phase.members.size);
    phase.deadlineMs += skipped * TICK_INTERVAL_MS;
    this.skippedTicks += skipped * phase.members.size;
    this.#tick.deadlineMs = phase.deadlineMs;
    this.#tick.lateMs = nowMs - phase.deadlineMs;
    this.#tick.skippedTicks = skipped;
    this.delays.add(this.#tick.lateMs, phase.members.size);
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
