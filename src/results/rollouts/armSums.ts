import { ROLLOUT_METRICS, type RolloutMetric } from '../../agents/releases/rollout.ts';
import { bucketOf, edgeOf, type Histogram, LATENCY_BUCKETS } from '../insights/histogram.ts';
import { SUM_METRICS, type SumMetric } from '../insights/metrics.ts';
import type { Counted } from '../insights/sessionFacts.ts';
import type { Sums } from './sequentialTest.ts';

/** A metric that is a ratio of sums over sessions. */
export type SummedMetric = Exclude<RolloutMetric, 'latencyP95'>;

const SUMMED = [
  'sessions',
  ...ROLLOUT_METRICS.filter((metric): metric is SummedMetric => metric !== 'latencyP95'),
] as const;

/** What is summed over the sessions of an arm. */
interface SumKey {
  readonly metric: RolloutMetric | 'sessions';
  /** `latencyP95` counts the turns that are slower than this bucket of LATENCY_BUCKETS. Other metrics have 0. */
  readonly bucket: number;
}

/** The sums of an arm, as they are stored. */
export interface ArmRow extends SumKey, Sums {
  readonly release: number;
}

/** Returns the numerator and the denominator that a session has of each figure. @param turns - By their latency. */
export function partsOf(
  sums: Counted['sums'],
  turns: Histogram,
): (SumKey & { readonly x: number; readonly w: number })[] {
  const summed = SUMMED.map((metric) => {
    const { amount, n, unit = 1 }: SumMetric = SUM_METRICS[metric];
    return { metric, bucket: 0, x: sums[amount] / unit, w: sums[n] };
  });
  return [...summed, ...slowerThan(turns)].filter(({ w }) => w > 0);
}

/** Counts the turns slower than each bucket; no turn is slower than the last one. */
function slowerThan(turns: Histogram) {
  const w = Object.values(turns).reduce((sum, count) => sum + count, 0);
  let x = w;
  return Array.from({ length: LATENCY_BUCKETS.count - 1 }, (_, bucket) => {
    x -= turns[bucket] ?? 0;
    return { metric: 'latencyP95' as const, bucket, x, w };
  });
}

/** The sums of an arm. */
export class ArmSums {
  readonly #rows: readonly ArmRow[];
  /** By the edges of the buckets, of which 0 is the first: the turns that are slower than it. */
  readonly #slower: readonly Sums[];

  constructor(rows: readonly ArmRow[], release: number) {
    this.#rows = rows.filter((row) => row.release === release);
    const slower = this.#rows.filter(({ metric }) => metric === 'latencyP95');
    const [first] = slower.sort((a, b) => a.bucket - b.bucket);
    this.#slower = first
      ? [{ ...first, x: first.w, xx: first.ww, xw: first.ww }, ...slower, { ...first, x: 0, xx: 0, xw: 0 }]
      : [];
  }

  /** Ended sessions. */
  get sessions(): number {
    return this.of('sessions')?.sessions ?? 0;
  }

  of(metric: SummedMetric | 'sessions'): Sums | undefined {
    return this.#rows.find((row) => row.metric === metric);
  }

  /** Sessions with turns whose latency is known. */
  get timedSessions(): number {
    return this.#slower[0]?.sessions ?? 0;
  }

  /** Sums the turns slower than the limit, and all turns. Turns of one bucket count as spread evenly over it. */
  slowTurns(limitMs: number): Sums | undefined {
    const bucket = bucketOf(limitMs, LATENCY_BUCKETS);
    const [from, to] = [this.#slower[bucket], this.#slower[bucket + 1]];
    if (!from || !to) return undefined;
    const [fromMs, toMs] = edgesOf(bucket);
    const share = Math.min(1, (limitMs - fromMs) / (toMs - fromMs));
    const between = (name: 'x' | 'xx' | 'xw') => from[name] + share * (to[name] - from[name]);
    return { ...from, x: between('x'), xx: between('xx'), xw: between('xw') };
  }

  /** Returns the latency that a share of the turns does not exceed, in ms; {@link slowTurns} has the others. */
  latency(share: number): number | null {
    const [all] = this.#slower;
    if (!all || all.w === 0) return null;
    const slow = (1 - share) * all.w;
    const bucket = this.#slower.findIndex(({ x }, edge) => edge > 0 && x <= slow) - 1;
    const [fromMs, toMs] = edgesOf(bucket);
    const from = this.#slower[bucket]?.x ?? 0;
    const to = this.#slower[bucket + 1]?.x ?? 0;
    return from === to ? fromMs : fromMs + ((from - slow) / (from - to)) * (toMs - fromMs);
  }
}

const edgesOf = (bucket: number) =>
  [bucket === 0 ? 0 : edgeOf(bucket - 1, LATENCY_BUCKETS), edgeOf(bucket, LATENCY_BUCKETS)] as const;
