import { expect, test } from 'vitest';

import {
  estimate,
  intervalRadius,
  isAbove,
  isAboveBy,
  type Sums,
} from '../../../src/results/rollouts/sequentialTest.ts';
import { randomOf } from './support/random.ts';

const SEEDS = 100;

const NOTHING: Sums = { sessions: 0, x: 0, w: 0, xx: 0, xw: 0, ww: 0 };
const plus = ({ sessions, x, w, xx, xw, ww }: Sums, value: number): Sums => ({
  sessions: sessions + 1,
  x: x + value,
  w: w + 1,
  xx: xx + value * value,
  xw: xw + value,
  ww: ww + 1,
});

/** Plays conversations one after the other, with a look after each. @returns The seeds in which it was rolled back. */
function rolledBack(
  [before, after]: readonly [number, number],
  { most, share = 0.5, maxDrop = 0 }: { most: number; share?: number; maxDrop?: number },
): number {
  let count = 0;
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const random = randomOf(seed * 7919);
    let [old, changed] = [NOTHING, NOTHING];
    for (let conversation = 0; conversation < most; conversation += 1) {
      const isNew = random() < share;
      const success = random() < (isNew ? after : before) ? 1 : 0;
      if (isNew) changed = plus(changed, success);
      else old = plus(old, success);
      const [high, low] = [estimate(old, true), estimate(changed, true)];
      if (!high || !low || !isAboveBy(high, low, maxDrop)) continue;
      count += 1;
      break;
    }
  }
  return count;
}

test('A fall of success from 90 to 80 of 100 is found within 2,000 conversations, to 70 within 300', () => {
  expect(rolledBack([0.9, 0.8], { most: 2_000 })).toBeGreaterThanOrEqual(95);
  expect(rolledBack([0.9, 0.8], { most: 2_000, maxDrop: 0.02 })).toBeGreaterThanOrEqual(95);
  expect(rolledBack([0.9, 0.7], { most: 300 })).toBeGreaterThanOrEqual(90);
  expect(rolledBack([0.9, 0.7], { most: 300, maxDrop: 0.02 })).toBeGreaterThanOrEqual(90);
});

test.each([
  [0.9, 0.5],
  [0.5, 0.5],
  [0.98, 0.5],
  [0.9, 0.05],
  [0.9, 0.95],
])(
  'Equal releases with a success of %s at a share of %s are rolled back by chance in 5 of 100 at most',
  (success, share) => {
    expect(rolledBack([success, success], { most: 3_000, share })).toBeLessThanOrEqual(5);
  },
);

test('A better release is never rolled back', () => {
  expect(rolledBack([0.8, 0.9], { most: 3_000 })).toBe(0);
});

test('A margin is allowed: a fall by less than maxDrop does not fire', () => {
  expect(rolledBack([0.9, 0.86], { most: 3_000, maxDrop: 0.05 })).toBeLessThanOrEqual(5);
});

/** A mean of values that spread evenly over `center` ± 50. */
const means = (center: number, sessions: number) =>
  estimate(
    Array.from({ length: sessions }, (_, index) => center - 50 + (100 * (index + 0.5)) / sessions).reduce(
      plus,
      NOTHING,
    ),
    false,
  );

test('A mean is tested against a limit and against another one, once there are 20 sessions', () => {
  const [slow, quick] = [means(120, 400), means(100, 400)];
  if (!slow || !quick) throw new Error('no estimate');
  expect([isAbove(slow, 110), isAbove(slow, 119), isAbove(slow, 130)]).toEqual([true, false, false]);
  expect([isAboveBy(slow, quick, 0), isAboveBy(slow, quick, 19), isAboveBy(quick, slow, 0)]).toEqual([
    true,
    false,
    false,
  ]);
  expect(means(120, 19)).toBeUndefined();
  expect(estimate(NOTHING, true)).toBeUndefined();
});

test('An interval of an arm is wider than one for a single look, and narrows', () => {
  const few = means(100, 100);
  const many = means(100, 10_000);
  if (!few || !many) throw new Error('no estimate');
  const single = 1.96 * Math.sqrt(few.variance / 100);
  expect(intervalRadius(few)).toBeGreaterThan(single);
  expect(intervalRadius(few)).toBeLessThan(2 * single);
  expect(intervalRadius(many)).toBeLessThan(intervalRadius(few) / 8);
});

test('A share of a session’s own parts, such as failed tool calls, counts sessions, not calls', () => {
  const sums: Sums = { sessions: 100, x: 50, w: 1_000, xx: 500, xw: 500, ww: 10_000 };
  const clustered = estimate(sums, true);
  const spread = estimate({ sessions: 1_000, x: 50, w: 1_000, xx: 50, xw: 50, ww: 1_000 }, true);
  if (!clustered || !spread) throw new Error('no estimate');
  expect(clustered.value).toBe(0.05);
  expect(intervalRadius(clustered)).toBeGreaterThan(2 * intervalRadius(spread));
});
