/** The coarse search uses every second sample, the fine one each sample around the best lag. */
const COARSE_STEP = 2;

/**
 * The lag at which the end of the signal correlates best with the samples before.
 *
 * @param samples - Newest last; at least three times `maxLag` long.
 * @returns The lag in samples, from `minLag` to `maxLag`.
 */
export function findPitch(samples: Float64Array, minLag: number, maxLag: number): number {
  const length = maxLag + (maxLag >> 2);
  const coarse = bestLag(samples, length, minLag, maxLag, COARSE_STEP);
  return bestLag(
    samples,
    length,
    Math.max(minLag, coarse - COARSE_STEP + 1),
    Math.min(maxLag, coarse + COARSE_STEP - 1),
    1,
  );
}

function bestLag(samples: Float64Array, length: number, from: number, to: number, step: number): number {
  let best = from;
  let bestCorrelation = Number.NEGATIVE_INFINITY;
  for (let lag = from; lag <= to; lag += step) {
    const correlation = correlationAt(samples, length, lag, step);
    if (correlation > bestCorrelation) {
      best = lag;
      bestCorrelation = correlation;
    }
  }
  return best;
}

/** Correlation of the last `length` samples with those `lag` earlier, normalised by the earlier ones' power. */
function correlationAt(samples: Float64Array, length: number, lag: number, step: number): number {
  let product = 0;
  let power = 1;
  for (let at = samples.length - length; at < samples.length; at += step) {
    const earlier = samples[at - lag] ?? 0;
    product += (samples[at] ?? 0) * earlier;
    power += earlier * earlier;
  }
  return product / Math.sqrt(power);
}
