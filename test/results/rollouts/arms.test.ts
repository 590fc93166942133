import { expect, test } from 'vitest';

import { type Guard, type Rollout, rolloutInput } from '../../../src/agents/releases/rollout.ts';
import { histogramOf, LATENCY_BUCKETS } from '../../../src/results/insights/histogram.ts';
import { SUMS } from '../../../src/results/insights/sessionFacts.ts';
import { type ArmRow, partsOf } from '../../../src/results/rollouts/armSums.ts';
import { armsOf, judgeArms } from '../../../src/results/rollouts/arms.ts';
import { randomOf } from './support/random.ts';

const SEEDS = 100;
const SUMS_OF_NOTHING = Object.fromEntries(SUMS.map((name) => [name, 0])) as Record<
  (typeof SUMS)[number],
  number
>;

const rolloutOf = (guard: Guard): Rollout => ({
  ...rolloutInput.parse({ release: 2, percent: 50, guards: [guard] }),
  id: 'r',
  projectId: 'p',
  previousRelease: 1,
  status: 'running',
  startedAt: '2026-01-01T00:00:00.000Z',
  endedAt: null,
  decision: null,
});

/** The sums of arms, by the latencies of their sessions. */
class Arms {
  readonly #rows: Record<number, { -readonly [Name in keyof ArmRow]: ArmRow[Name] }> = {};

  add(release: number, latencies: readonly number[]): void {
    for (const { metric, bucket, x, w } of partsOf(
      SUMS_OF_NOTHING,
      histogramOf(latencies, LATENCY_BUCKETS),
    )) {
      const key = release * LATENCY_BUCKETS.count + bucket;
      this.#rows[key] ??= { release, metric, bucket, sessions: 0, x: 0, w: 0, xx: 0, xw: 0, ww: 0 };
      const row = this.#rows[key];
      row.sessions += 1;
      row.x += x;
      row.w += w;
      row.xx += x * x;
      row.xw += x * w;
      row.ww += w * w;
    }
  }

  get rows(): readonly ArmRow[] {
    return Object.values(this.#rows);
  }
}

/** A person’s line and words make all turns of a session slower or faster. */
function sessionOf(random: () => number, factor: number): number[] {
  const spread = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const own = factor * 900 * Math.exp(0.2 * spread());
  return Array.from({ length: 1 + Math.floor(random() * 8) }, () => own * Math.exp(0.3 * spread()));
}

/** @returns The seeds in which a release with these latencies is rolled back within so many sessions; a look each 50. */
function rolledBack(factor: number, guard: Guard, most: number): number {
  const rollout = rolloutOf(guard);
  return Array.from({ length: SEEDS }, (_, seed) => seed + 1).filter((seed) => {
    const random = randomOf(seed * 7919);
    const arms = new Arms();
    for (let session = 1; session <= most; session += 1) {
      const isNew = random() < 0.5;
      arms.add(isNew ? 2 : 1, sessionOf(random, isNew ? factor : 1));
      if (session % 50 === 0 && judgeArms(rollout, arms.rows).guards.some(({ hasFired }) => hasFired))
        return true;
    }
    return false;
  }).length;
}

test('A release that is as fast is rolled back by chance in 5 of 100 at most, one that is faster never', () => {
  expect(rolledBack(1, { metric: 'latencyP95', maxDrop: 0 }, 1_000)).toBeLessThanOrEqual(5);
  expect(rolledBack(0.9, { metric: 'latencyP95', maxDrop: 0 }, 1_000)).toBe(0);
});

test('A release that is half as slow again is found within 1,000 sessions, by its rise and by its bound', () => {
  expect(rolledBack(1.5, { metric: 'latencyP95', maxDrop: 100 }, 1_000)).toBeGreaterThanOrEqual(95);
  expect(rolledBack(1.5, { metric: 'latencyP95', max: 2_000 }, 1_000)).toBeGreaterThanOrEqual(95);
});

test('The 95th percentile of an arm lies within 2 % of that of its turns', () => {
  const random = randomOf(5);
  const sessions = Array.from({ length: 2_000 }, () => sessionOf(random, 1));
  const arms = new Arms();
  for (const one of sessions) arms.add(2, one);
  const turns = sessions.flat().sort((a, b) => a - b);
  const exact = turns[Math.floor(turns.length * 0.95)] ?? 0;
  const [, found] = armsOf(rolloutOf({ metric: 'latencyP95', max: 1 }), arms.rows);
  const { value, low, high } = found?.metrics.latencyP95 ?? {};
  expect(Math.abs((value ?? 0) / exact - 1)).toBeLessThan(0.02);
  expect([(low ?? 0) < exact, (high ?? 0) > exact]).toEqual([true, true]);
});
