import {
  type Arm,
  type ArmFigure,
  type Guard,
  type GuardFigures,
  ROLLOUT_METRICS,
  type Rollout,
  type RolloutMetric,
} from '../../agents/releases/rollout.ts';
import { type Estimate, estimate, intervalRadius, isAbove, isAboveBy, type Sums } from './sequentialTest.ts';

/** The ended sessions of a release since a rollout began; those of tests are none of them. */
export interface ArmSessions {
  readonly projectId: string;
  readonly release: number;
  /** ISO 8601: sessions that began then or later. */
  readonly from: string;
  /** Sessions that began before it; null for all since. */
  readonly to: string | null;
}

/** A metric that is a ratio of sums over sessions. */
type SummedMetric = Exclude<RolloutMetric, 'latencyP95'>;

export interface ArmSums {
  readonly sessions: number;
  readonly metrics: Partial<Readonly<Record<SummedMetric, Sums>>>;
}

/** Reads the figures of an arm. */
export interface RolloutFigures {
  sums(arm: ArmSessions): Promise<ArmSums>;
  /** Percentiles of the turns' latency, and the sessions that have one. @param shares - 0 to 1. */
  latency(arm: ArmSessions, shares: readonly number[]): Promise<{ sessions: number; ms: readonly number[] }>;
  /** By session: turns slower than the limit, of all turns. */
  slowTurns(arm: ArmSessions, limitMs: number): Promise<Sums>;
}

/** Metrics that are shares of sessions, or of what happens in them; the others are means. */
const SHARES: readonly RolloutMetric[] = [
  'success',
  'evaluation',
  'answered',
  'toolFailures',
  'transfers',
  'error',
];
const MORE_IS_BETTER: readonly RolloutMetric[] = ['success', 'evaluation', 'answered'];
/** The share of turns that are slower than the 95th percentile. */
const SLOW_SHARE = 0.05;
const NOTHING: ArmFigure = { value: null, low: null, high: null, n: 0 };

/** Both arms of a rollout, the old release first, with the metrics that their sessions have. */
export async function readArms(figures: RolloutFigures, rollout: Rollout): Promise<Arm[]> {
  return await Promise.all(
    armsOf(rollout).map(async (arm) => {
      const sums = await figures.sums(arm);
      const known = await Promise.all(
        ROLLOUT_METRICS.map(async (metric) => [metric, await figureOf(figures, arm, sums, metric)] as const),
      );
      const metrics = Object.fromEntries(known.filter(([, { value }]) => value !== null));
      return { release: arm.release, sessions: sums.sessions, metrics };
    }),
  );
}

/** What the guards of a rollout say now. */
export interface Judgement {
  /** Ended sessions of the new release. */
  readonly sessions: number;
  readonly guards: readonly { readonly figures: GuardFigures; readonly hasFired: boolean }[];
}

export async function judgeArms(figures: RolloutFigures, rollout: Rollout): Promise<Judgement> {
  const [before, after] = armsOf(rollout);
  const [old, changed] = await Promise.all([figures.sums(before), figures.sums(after)]);
  const guards = await Promise.all(
    rollout.guards.map(async (guard) => {
      const { metric } = guard;
      const [oldFigure, newFigure] = await Promise.all([
        figureOf(figures, before, old, metric),
        figureOf(figures, after, changed, metric),
      ]);
      const hasFired =
        metric === 'latencyP95'
          ? await firesOnLatency(figures, [before, after], guard, oldFigure.value)
          : firesOnSums(guard, estimateOf(old, metric), estimateOf(changed, metric));
      return { figures: { ...guard, old: oldFigure, new: newFigure }, hasFired };
    }),
  );
  return { sessions: changed.sessions, guards };
}

function armsOf({ projectId, previousRelease, release, startedAt, endedAt }: Rollout) {
  const span = { projectId, from: startedAt, to: endedAt };
  return [
    { ...span, release: previousRelease },
    { ...span, release },
  ] as const;
}

function estimateOf({ metrics }: ArmSums, metric: SummedMetric): Estimate | undefined {
  const sums = metrics[metric];
  return sums && estimate(sums, SHARES.includes(metric));
}

function firesOnSums(
  { metric, max, maxDrop = 0 }: Guard,
  old: Estimate | undefined,
  changed: Estimate | undefined,
): boolean {
  if (!changed) return false;
  if (max !== undefined) return isAbove(changed, max);
  if (!old) return false;
  return MORE_IS_BETTER.includes(metric)
    ? isAboveBy(old, changed, maxDrop)
    : isAboveBy(changed, old, maxDrop);
}

/**
 * A 95th percentile is above a limit where more than 5 of 100 turns are slower than it. The old release's percentile is
 * itself an estimate: where it is the limit, its arm counts with the same variance.
 */
async function firesOnLatency(
  figures: RolloutFigures,
  [before, after]: readonly [ArmSessions, ArmSessions],
  { max, maxDrop = 0 }: Guard,
  oldMs: number | null,
): Promise<boolean> {
  const limitMs = max ?? (oldMs === null ? null : oldMs + maxDrop);
  if (limitMs === null) return false;
  const slow = estimate(await figures.slowTurns(after, limitMs), true);
  if (!slow) return false;
  if (max !== undefined) return isAbove(slow, SLOW_SHARE);
  const old = estimate(await figures.slowTurns(before, limitMs - maxDrop), true);
  return old !== undefined && isAboveBy(slow, { ...old, value: SLOW_SHARE }, 0);
}

async function figureOf(
  figures: RolloutFigures,
  arm: ArmSessions,
  sums: ArmSums,
  metric: RolloutMetric,
): Promise<ArmFigure> {
  if (metric === 'latencyP95') return await latencyFigure(figures, arm);
  const found = estimateOf(sums, metric);
  if (!found) return { ...NOTHING, n: sums.metrics[metric]?.sessions ?? 0 };
  const radius = intervalRadius(found);
  const high = found.value + radius;
  const low = Math.max(0, found.value - radius);
  return {
    value: found.value,
    low,
    high: SHARES.includes(metric) ? Math.min(1, high) : high,
    n: found.sessions,
  };
}

/** The interval's ends are percentiles, too: those between which the 95th lies with 95 %. */
async function latencyFigure(figures: RolloutFigures, arm: ArmSessions): Promise<ArmFigure> {
  const { sessions } = await figures.latency(arm, []);
  if (sessions === 0) return NOTHING;
  const share = 1 - SLOW_SHARE;
  const radius = intervalRadius({ value: share, variance: SLOW_SHARE * share, sessions });
  const { ms } = await figures.latency(arm, [share - radius, share, share + radius].map(atMostOne));
  const [low = null, value = null, high = null] = ms;
  return { value, low, high, n: sessions };
}

const atMostOne = (share: number) => Math.min(1, Math.max(0, share));
