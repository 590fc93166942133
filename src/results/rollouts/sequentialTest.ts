/**
 * A test that may be looked at after every session: over all looks, it fires by chance in 5 of 100 rollouts at most.
 *
 * The likelihood ratio of "the mean is above 0" is mixed over a half-normal distribution of the mean. Under the null
 * hypothesis it is a supermartingale, so that it passes 1/alpha at any time with probability alpha at most (Ville).
 *
 * @see Howard, Ramdas, McAuliffe, Sekhon: "Time-uniform, nonparametric, nonasymptotic confidence sequences", Annals of
 *   Statistics 49 (2021), section 3.2
 */

const ALPHA = 0.05;
/** The mixture's scale in sessions: the boundary in standard errors is lowest at about six times it, near 300 sessions. */
const SCALE_SESSIONS = 50;

/** Sums over the sessions of an arm, of a numerator `x` and a denominator `w`; a mean has `w` 1 in each session. */
export interface Sums {
  readonly sessions: number;
  readonly x: number;
  readonly w: number;
  readonly xx: number;
  readonly xw: number;
  readonly ww: number;
}

export interface Estimate {
  /** The sum of `x` divided by that of `w`. */
  readonly value: number;
  /** The variance of one session's part in it. */
  readonly variance: number;
  readonly sessions: number;
}

/**
 * Estimates a ratio of sums, and its variance by the delta method.
 *
 * @param isShare - Whether `x` lies between 0 and `w`. Then one session more of each kind is assumed for the variance,
 *   so that an arm of ten successes is not taken for one that cannot fail.
 * @returns Undefined where there is too little.
 */
export function estimate(sums: Sums, isShare: boolean): Estimate | undefined {
  const { sessions, x, w } = sums;
  if (w <= 0 || sessions < (isShare ? 1 : MIN_SESSIONS_OF_MEAN)) return undefined;
  const { x: sx, w: sw, xx, xw, ww, sessions: n } = isShare ? withOneOfEach(sums) : sums;
  const ratio = sx / sw;
  const residual = Math.max(0, xx - 2 * ratio * xw + ratio * ratio * ww);
  const weight = sw / n;
  return { value: x / w, variance: residual / (isShare ? n : n - 1) / (weight * weight), sessions };
}

/** With fewer sessions, the variance of a mean is not known well enough. */
const MIN_SESSIONS_OF_MEAN = 20;

function withOneOfEach({ sessions, x, w, xx, xw, ww }: Sums): Sums {
  const one = w / sessions;
  const square = one * one;
  return {
    sessions: sessions + 2,
    x: x + one,
    w: w + 2 * one,
    xx: xx + square,
    xw: xw + square,
    ww: ww + 2 * square,
  };
}

/** Tells whether the data show that the value is above the limit. */
export function isAbove({ value, variance, sessions }: Estimate, limit: number): boolean {
  return fires(value - limit, variance / sessions, sessions);
}

/** Tells whether the data show that `high` is above `low` by more than the margin. */
export function isAboveBy(high: Estimate, low: Estimate, margin: number): boolean {
  const total = high.sessions + low.sessions;
  const parts = 1 / high.sessions + 1 / low.sessions;
  const within = (high.variance * high.sessions + low.variance * low.sessions) / total;
  // A small arm says little of its own variance, a large one nothing of another's: the worse one counts.
  const variance = Math.max(within * parts, high.variance / high.sessions + low.variance / low.sessions);
  return fires(high.value - low.value - margin, variance, 4 / parts);
}

/** Returns half the width of the 95 % interval of an arm's value, which is valid at all times at once. */
export function intervalRadius({ variance, sessions }: Estimate): number {
  const growth = sessions / (SCALE_SESSIONS / 2);
  const squared = ((1 + growth) / growth) * (Math.log1p(growth) + 2 * Math.log(1 / ALPHA));
  return Math.sqrt((variance / sessions) * squared);
}

/** @param sessions - The sessions of two equal arms that would say as much. */
function fires(difference: number, variance: number, sessions: number): boolean {
  if (difference <= 0 || variance <= 0) return false;
  const score = difference / Math.sqrt(variance);
  const growth = sessions / SCALE_SESSIONS;
  const share = growth / (1 + growth);
  const logRatio =
    Math.log(2) -
    Math.log1p(growth) / 2 +
    (score * score * share) / 2 +
    Math.log(normalCdf(score * Math.sqrt(share)));
  return logRatio >= Math.log(1 / ALPHA);
}

/** Returns the standard normal distribution at x of 0 or more, to 7.5e-8. @see Abramowitz and Stegun, 26.2.17 */
function normalCdf(x: number): number {
  const t = 1 / (1 + 0.231_641_9 * x);
  const series =
    t *
    (0.319_381_53 + t * (-0.356_563_782 + t * (1.781_477_937 + t * (-1.821_255_978 + t * 1.330_274_429))));
  return 1 - series * 0.398_942_28 * Math.exp((-x * x) / 2);
}
