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
  await new Promise((resolve) => setImmediate(resolve));
  expect(batches).toEqual([[6]]);
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

test('Added usage is stored every second, by project, day and kind, and the rest at a stop', async () => {
  const batches: (readonly DayUsage[])[] = [];
  const { meter, clock } = meterOn(async (used) => void batches.push(used));
  meter.add('p', { calls: 1, tokens: 0 });
  meter.add('p', { calls: 2, callMs: 5 });
  meter.add('q', { calls: 4 });
  clock.advance(1000);
  const day = '2026-11-23';
  await expect
    .poll(() => batches)
    .toEqual([
      [
        { projectId: 'p', day, kind: 'calls', amount: 3 },
        { projectId: 'p', day, kind: 'callMs', amount: 5 },
        { projectId: 'q', day, kind: 'calls', amount: 4 },
      ],
    ]);
  clock.advance(12 * 3_600_000);
  meter.add('p', { calls: 1 });
  await Promise.all([meter.close(), meter.close()]);
  expect(batches.slice(1)).toEqual([[{ projectId: 'p', day: '2026-11-24', kind: 'calls', amount: 1 }]]);
  expect(clock.pendingTimers()).toBe(0);
});

test('Today’s usage is what all nodes have stored of the current UTC day, and what this one has added', async () => {
  const asked: string[] = [];
  const meter = new UsageMeter({
    clock: createSimulatedClock(Date.parse('2026-11-23T23:59:59Z')),
    onError: () => undefined,
    store: {
      add: async (used) => void asked.push(`add ${used[0]?.amount}`),
      async since(projectId, day) {
        asked.push(`${projectId} ${day}`);
        return [
          { day, kind: 'calls', amount: 2 },
          { day, kind: 'billedMs', amount: 7 },
        ];
      },
    },
  });
  meter.add('p', { calls: 1 });
  expect(await meter.today('p')).toEqual({ calls: 2, billedMs: 7 });
  expect(asked).toEqual(['add 1', 'p 2026-11-23']);
  await meter.close();
});
