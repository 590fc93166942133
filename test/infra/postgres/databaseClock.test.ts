import { expect, test, vi } from 'vitest';

import { DatabaseClock } from '../../../src/infra/postgres/databaseClock.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

const MINUTES_MS = 60_000;

/** A node whose system clock differs from the database's by `skewMs`, and is set at will. */
function setUp(skewMs: number) {
  const real = createSimulatedClock();
  let skew = skewMs;
  let isAway = false;
  const onOffset = vi.fn();
  const onError = vi.fn();
  const system = { ...real, now: () => real.now() + skew };
  const clock = new DatabaseClock({ system, onOffset, onError });
  const query = vi.fn(async () => {
    if (isAway) throw new Error('database is away');
    return [{ ms: String(real.now()) }];
  });
  return {
    real,
    clock,
    onOffset,
    onError,
    follow: () => clock.follow({ query: query as never }),
    setSkew(ms: number) {
      skew = ms;
    },
    setAway(away: boolean) {
      isAway = away;
    },
    async seconds(count: number) {
      for (let second = 0; second < count; second++) {
        real.advance(1000);
        await vi.waitFor(() => undefined);
      }
    },
  };
}

test.each([
  ['ahead', 5 * MINUTES_MS],
  ['behind', -5 * MINUTES_MS],
])('A node whose system clock is five minutes %s has the time of the database', async (_how, skewMs) => {
  const { real, clock, follow, onOffset, seconds } = setUp(skewMs);
  expect(clock.now()).toBe(real.now() + skewMs);
  const stop = await follow();
  expect(Math.abs(clock.now() - real.now())).toBeLessThanOrEqual(1);
  expect(clock.offsetMs).toBeGreaterThanOrEqual(skewMs);
  expect(clock.fromSystem(real.now() + skewMs)).toBe(clock.now());
  expect(onOffset).toHaveBeenCalledTimes(1);
  expect(Math.abs(onOffset.mock.calls[0]?.[0] - skewMs)).toBeLessThanOrEqual(1);
  await seconds(30);
  expect(Math.abs(clock.now() - real.now())).toBeLessThanOrEqual(1);
  expect(onOffset).toHaveBeenCalledTimes(1);
  await stop();
});

test('A step of the system clock changes nothing, while the database is away too', async () => {
  const { real, clock, follow, setSkew, setAway, seconds, onOffset, onError } = setUp(0);
  const stop = await follow();
  await seconds(15);
  setAway(true);
  setSkew(60 * MINUTES_MS);
  expect(Math.abs(clock.now() - real.now())).toBeLessThanOrEqual(1);
  await seconds(30);
  expect(Math.abs(clock.now() - real.now())).toBeLessThanOrEqual(1);
  expect(onError).toHaveBeenCalled();
  setAway(false);
  await seconds(11);
  expect(onOffset).toHaveBeenCalledTimes(1);
  setSkew(0);
  await seconds(11);
  expect(onOffset).toHaveBeenLastCalledWith(0);
  await stop();
});

test('Without a first reading the clock is the system’s', async () => {
  const { real, clock, follow, setAway } = setUp(MINUTES_MS);
  setAway(true);
  const stop = await follow();
  expect(clock.now()).toBe(real.now() + MINUTES_MS);
  await stop();
});
