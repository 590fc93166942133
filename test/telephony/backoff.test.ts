import { expect, test } from 'vitest';
import { backoffMs } from '../../src/telephony/backoff.ts';

test.each([
  [1, 0, 250],
  [2, 0, 500],
  [2, 1, 250],
  [3, 0.5, 750],
  [8, 0, 30_000],
  [10_000, 0, 30_000],
])('After %i failures with random %d the delay is %i ms', (failures, random, expected) => {
  expect(backoffMs({ firstMs: 250, maxMs: 30_000 }, failures, random)).toBe(expected);
});
