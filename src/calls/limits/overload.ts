/** The delay of a part of a node over the last samples. */
export interface PartLoad {
  /** True when the part is late and new calls are refused. */
  readonly isLate: boolean;
  /** The number of samples in a row that indicate the other state. */
  readonly streak: number;
}

export const ON_TIME: PartLoad = { isLate: false, streak: 0 };

/** A single stall, such as a garbage collection, is no overload. */
const LATE_SAMPLES = 3;
/**
 * The samples in a row that end the lateness. It is higher than the number that begins it, so that calls are not
 * alternately refused and accepted.
 */
const CALM_SAMPLES = 5;
/** The new calls that follow must find some room. */
const CALM_SHARE = 0.5;

/**
 * The next state of a part after another sample of its delay.
 *
 * ```
 *             3 samples in a row above the limit
 *   on time ─────────────────────────────────────▶ late
 *      ▲     5 in a row at most half the limit      │
 *      └────────────────────────────────────────────┘
 * ```
 */
export function nextLoad({ isLate, streak }: PartLoad, delayMs: number, limitMs: number): PartLoad {
  const isOpposed = isLate ? delayMs <= CALM_SHARE * limitMs : delayMs > limitMs;
  const opposed = isOpposed ? streak + 1 : 0;
  if (opposed < (isLate ? CALM_SAMPLES : LATE_SAMPLES)) return { isLate, streak: opposed };
  return { isLate: !isLate, streak: 0 };
}
