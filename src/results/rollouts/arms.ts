import {
  type Arm,
  type ArmFigure,
  type Guard,
  type GuardFigures,
  ROLLOUT_METRICS,
  type Rollout,
  type RolloutMetric,
} from '../../agents/releases/rollout.ts';
import { type ArmRow, ArmSums, type SummedMetric } from './armSums.ts';
import { type Estimate, estimate, intervalRadius, isAbove, isAboveBy } from './sequentialTest.ts';

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

/** Returns both arms of a rollout, the old release first. */
export function armsOf({ previousRelease, release }: Rollout, rows: readonly ArmRow[]): Arm[] {
  return [previousRelease, release].map((one) => {
    const arm = new ArmSums(rows, one);
    const figures = ROLLOUT_METRICS.map((metric) => [metric, figureOf(arm, metric)] as const);
    return {
      release: one,
      sessions: arm.sessions,
      metrics: Object.fromEntries(figures) as Arm['metrics'],
    };
  });
}

/** What the guards of a rollout say now. */
export interface Judgement {
  /** Ended sessions of the new release. */
  readonly sessions: number;
  readonly guards: readonly { readonly figures: GuardFigures; readonly hasFired: boolean }[];
}

export function judgeArms(rollout: Rollout, rows: readonly ArmRow[]): Judgement {
  const old = new ArmSums(rows, rollout.previousRelease);
  const changed = new ArmSums(rows, rollout.release);
  const guards = rollout.guards.map((guard) => {
    const { metric } = guard;
    const figures = { ...guard, old: figureOf(old, metric), new: figureOf(changed, metric) };
    const hasFired =
      metric === 'latencyP95'
        ? firesOnLatency([old, changed], guard)
        : firesOnSums(guard, estimateOf(old, metric), estimateOf(changed, metric));
    return { figures, hasFired };
  });
  return { sessions: changed.sessions, guards };
}

function estimateOf(arm: ArmSums, metric: SummedMetric): Estimate | undefined {
  const sums = arm.of(metric);
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
function firesOnLatency([before, after]: readonly [ArmSums, ArmSums], { max, maxDrop = 0 }: Guard): boolean {
  const oldMs = before.latency(1 - SLOW_SHARE);
  const limitMs = max ?? (oldMs === null ? null : oldMs + maxDrop);
  const slow = limitMs === null ? undefined : slowShare(after, limitMs);
  if (!slow) return false;
  if (max !== undefined) return isAbove(slow, SLOW_SHARE);
  const old = oldMs === null ? undefined : slowShare(before, oldMs);
  return old !== undefined && isAboveBy(slow, { ...old, value: SLOW_SHARE }, 0);
}

function slowShare(arm: ArmSums, limitMs: number): Estimate | undefined {
  const sums = arm.slowTurns(limitMs);
  return sums && estimate(sums, true);
}

function figureOf(arm: ArmSums, metric: RolloutMetric): ArmFigure {
  if (metric === 'latencyP95') return latencyFigure(arm);
  const found = estimateOf(arm, metric);
  if (!found) return { ...NOTHING, n: arm.of(metric)?.sessions ?? 0 };
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

/** Returns the 95th percentile with the two percentiles between which it lies with 95 % confidence. */
function latencyFigure(arm: ArmSums): ArmFigure {
  const sessions = arm.timedSessions;
  if (sessions === 0) return NOTHING;
  const share = 1 - SLOW_SHARE;
  const radius = intervalRadius({ value: share, variance: SLOW_SHARE * share, sessions });
  const at = (one: number) => arm.latency(Math.min(1, Math.max(0, one)));
  return { value: at(share), low: at(share - radius), high: at(share + radius), n: sessions };
}
