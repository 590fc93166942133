/**
 * Taps on each side of the centre, in samples of the lower rate. The filter's edges are at 0.425 and 0.575 of that rate
 * (3.4 and 4.6 kHz at 8 kHz): speech passes, and aliases are above the telephone band.
 */
const SIDE_LOBES = 14;
/** Gives 68 dB of attenuation beyond the edge. */
const KAISER_BETA = 6.6;

/**
 * Low-pass at half the lower rate, a windowed sinc: every `factor`-th tap but the centre is zero, so that of the
 * polyphase branches one is a plain delay. Taps add up to 1.
 *
 * @param factor - Ratio of the rates, 2 or 3.
 */
export function designLowPass(factor: number): Float64Array {
  const centre = SIDE_LOBES * factor - 1;
  const taps = Float64Array.from({ length: 2 * centre + 1 }, (_, n) => {
    const x = (n - centre) / factor;
    const sinc = x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
    return (sinc * kaiser((n - centre) / (centre + 1))) / factor;
  });
  const sum = taps.reduce((total, tap) => total + tap, 0);
  return taps.map((tap) => tap / sum);
}

/** @param x - The position in the window, -1..1. */
function kaiser(x: number): number {
  return besselI0(KAISER_BETA * Math.sqrt(1 - x * x)) / besselI0(KAISER_BETA);
}

/** Modified Bessel function of the first kind, order 0, by its power series. */
function besselI0(x: number): number {
  let term = 1;
  let sum = 1;
  for (let k = 1; term > sum * 1e-12; k++) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}
