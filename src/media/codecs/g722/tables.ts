/** Tables of ITU-T G.722, in its 16-bit fixed point. */

/** Half of the 24 coefficients of the quadrature mirror filters; the other half is symmetric. @see table 11 */
export const QMF_COEFFICIENTS = Int32Array.of(3, -11, 12, 32, -210, 951, 3876, -805, 362, -156, 53, -11);

/** The logarithmic scale factor of one band: its adaptation and its conversion to a quantiser step. */
export interface ScaleFactor {
  /** Change of the logarithm by code word. @see tables 5 and 9 */
  readonly logarithmStep: Int32Array;
  /** The largest logarithm. */
  readonly logarithmLimit: number;
  /** The position of the binary point. */
  readonly shift: number;
  /** The initial step of the quantiser. */
  readonly initialStep: number;
}

/** Powers of two in 32 steps to the octave, from 2048. @see table 15 */
export const POWERS_OF_TWO = Int32Array.of(
  2048,
  2093,
  2139,
  2186,
  2233,
  2282,
  2332,
  2383,
  2435,
  2489,
  2543,
  2599,
  2656,
  2714,
  2774,
  2834,
  2896,
  2960,
  3025,
  3091,
  3158,
  3228,
  3298,
  3371,
  3444,
  3520,
  3597,
  3676,
  3756,
  3838,
  3922,
  4008,
);

/** Changes of the lower band's logarithm, by magnitude. */
const LOWER_STEPS = [-60, 3042, 1198, 538, 334, 172, 58, -30] as const;

/** Lower band, by its upper four bits: eight negative magnitudes, falling, then the positive ones. */
export const LOWER_SCALE: ScaleFactor = {
  logarithmStep: Int32Array.of(...LOWER_STEPS, ...LOWER_STEPS.slice(1), LOWER_STEPS[0]),
  logarithmLimit: 18_432,
  shift: 8,
  initialStep: 32,
};

/** Higher band, by its two bits. */
export const HIGHER_SCALE: ScaleFactor = {
  logarithmStep: Int32Array.of(798, -214, 798, -214),
  logarithmLimit: 22_528,
  shift: 10,
  initialStep: 8,
};

/** Bounds of the lower band's magnitudes, in 1/4096 of the step. @see table 14 */
export const LOWER_DECISION_LEVELS = Int32Array.of(
  0,
  35,
  72,
  110,
  150,
  190,
  233,
  276,
  323,
  370,
  422,
  473,
  530,
  587,
  650,
  714,
  786,
  858,
  940,
  1023,
  1121,
  1219,
  1339,
  1458,
  1612,
  1765,
  1980,
  2195,
  2557,
  2919,
);

/** Bound between the higher band's two magnitudes, in 1/4096 of the step. */
export const HIGHER_DECISION_LEVEL = 564;

/** Higher band's values by code word, in 1/32768 of the step. @see table 14 */
export const HIGHER_VALUES = Int32Array.of(-7408, -1616, 7408, 1616);

/** Lower band's values by its upper four bits, for the prediction at both ends. @see table 14 */
export const LOWER_COARSE_VALUES = Int32Array.of(
  0,
  -20456,
  -12896,
  -8968,
  -6288,
  -4240,
  -2584,
  -1200,
  20456,
  12896,
  8968,
  6288,
  4240,
  2584,
  1200,
  0,
);

/** Magnitudes of the lower band's 30 intervals from the largest down, in 1/32768 of the step. */
const FINE_MAGNITUDES = [
  24808, 21904, 19008, 16704, 14984, 13512, 12280, 11192, 10232, 9360, 8576, 7856, 7192, 6576, 6000, 5456,
  4944, 4464, 4008, 3576, 3168, 2776, 2400, 2032, 1688, 1360, 1040, 728, 432, 136,
] as const;
const SMALLEST = 136;
/** Code words 0 to 3 are never sent, since 0 would look like a lost line; they decode to the smallest value. */
const UNUSED_CODES = 4;
/** Negative magnitudes follow the unused codes, but for the two smallest, which are last. */
const SMALL_NEGATIVES = 2;

/** Lower band's values by all six bits, for the output. @see table 14 */
export const LOWER_FINE_VALUES = Int32Array.of(
  ...new Array<number>(UNUSED_CODES).fill(-SMALLEST),
  ...FINE_MAGNITUDES.slice(0, -SMALL_NEGATIVES).map((magnitude) => -magnitude),
  ...FINE_MAGNITUDES,
  ...FINE_MAGNITUDES.slice(-SMALL_NEGATIVES).map((magnitude) => -magnitude),
);

/** Code words of the lower band by interval, 1 the smallest magnitude; index 0 is not used. @see table 14 */
export const LOWER_NEGATIVE_CODES = Uint8Array.from({ length: 31 }, (_, interval) =>
  interval <= SMALL_NEGATIVES ? 64 - interval : 34 - interval,
);
export const LOWER_POSITIVE_CODES = Uint8Array.from({ length: 31 }, (_, interval) => 62 - interval);
