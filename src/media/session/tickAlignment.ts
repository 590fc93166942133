import type { JitterBuffer } from '../jitter/jitterBuffer.ts';

/** The jitter buffer knows the network by then, and has given up the delay that it began with. */
const SETTLING_TICKS = 200;
/** The ticks in which every packet of the caller was ready early: two seconds. */
const OBSERVED_TICKS = 100;
/** A smaller gain is not worth a packet that leaves at another distance than 20 ms. */
const LEAST_GAIN_MS = 4;
/**
 * The most that a call's ticks are advanced. Two calls whose ticks follow each other's packets would otherwise advance
 * forever.
 */
const MAX_ADVANCE_MS = 40;

/**
 * Makes a call's ticks earlier.
 *
 * @param byMs - The longest advance.
 * @returns The actual advance in ms.
 */
export type AdvanceTicks = (byMs: number) => number;

/**
 * Aligns a call's ticks with the arrival of the caller's packets, which wait up to 20 ms for the next tick otherwise.
 */
export class TickAlignment {
  readonly #advance: AdvanceTicks;
  #ticks = 0;
  #advancedMs = 0;

  constructor(advance: AdvanceTicks) {
    this.#advance = advance;
  }

  /** @param buffer - The jitter buffer of the caller's packets, from which this tick has pulled. */
  tick(buffer: JitterBuffer): void {
    const leftMs = MAX_ADVANCE_MS - this.#advancedMs;
    this.#ticks += 1;
    if (leftMs < LEAST_GAIN_MS || this.#ticks % OBSERVED_TICKS !== 0) return;
    const slackMs = buffer.takeLeastSlackMs();
    if (this.#ticks <= SETTLING_TICKS || slackMs < LEAST_GAIN_MS || slackMs === Number.POSITIVE_INFINITY)
      return;
    this.#advancedMs += this.#advance(Math.min(slackMs, leftMs));
  }
}
