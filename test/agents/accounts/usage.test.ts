import { expect, test } from 'vitest';

import { type DayUsage, UsageMeter } from '../../../src/agents/accounts/usage.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

function meterOn(add: (used: readonly DayUsage[]) => Promise<void>) {
  const clock = createSimulatedClock(Date.parse('2026-11-23T12:00:00Z'));
  const errors: unknown[] = [];
  const store = { add, since: async () => [] };
  return { meter: new UsageMeter({ store, clock, onError: (error) => errors.push(error) }), clock, errors };
}

test('Recorded usage is stored at once, and together with what is added while a batch is being stored', async () => {
  const batches: number[][] = [];
  const stored: (() => void)[] = [];
  const { meter } = meterOn(async (used) => {
    batches.push(used.map(({ amount }) => amount));
    await new Promise<void>((resolve) => stored.push(resolve));
  });
  const records = [1, 2, 3].map((billedMs) => meter.record('p', { billedMs }));
  await expect.poll(() => stored.length).toBe(1);
  const later = [10, 20].map((billedMs) => meter.record('p', { billedMs }));
  stored[0]?.();
  await Promise.all(records);
  await expect.poll(() => stored.length).toBe(2);
  stored[1]?.();
  await Promise.all(later);
  expect(batches).toEqual([[6], [30]]);
  await meter.close();
});

test('Usage that could not be stored is stored once, later', async () => {
  let isAway = true;
  const stored: number[] = [];
  const { meter, errors } = meterOn(async (used) => {
    if (isAway) throw new Error('the database is away');
    stored.push(...used.map(({ amount }) => amount));
  });
  await meter.record('p', { costMillionths: 5 });
  expect(errors).toHaveLength(1);
  isAway = false;
  await meter.record('p', { costMillionths: 7 });
  expect(stored).toEqual([12]);
  await meter.close();
});
