import { expect, it } from 'vitest';
import { DelayHistogram, percentileOf } from '../../../src/media/ticker/delayHistogram.ts';
import { type ThreadSleep, Ticker } from '../../../src/media/ticker/ticker.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

it('Ticker visits each member every 20 ms from one timer, and has no timer without members', () => {
  const clock = createSimulatedClock();
  const visits: string[] = [];
  const ticker = new Ticker<string>({
    clock,
    visit: (member) => visits.push(`${member} ${clock.monotonicMs()}`),
    onError: (error) => {
      throw error;
    },
  });
  expect(clock.pendingTimers()).toBe(0);
  ticker.add('a');
  ticker.add('b');
  expect(clock.pendingTimers()).toBe(1);
  clock.advance(45);
  // The second member is in the phase two milliseconds later.
  expect(visits).toEqual(['a 0', 'b 2', 'a 20', 'b 22', 'a 40', 'b 42']);
  ticker.remove('a');
  ticker.remove('a');
  clock.advance(20);
  expect(visits.slice(6)).toEqual(['b 62']);
  ticker.remove('b');
  expect(clock.pendingTimers()).toBe(0);
  expect(ticker.delays.total).toBe(7);
});

it('DelayHistogram gives percentiles of an interval from the difference of two copies', () => {
  const histogram = new DelayHistogram();
  histogram.add(50, 10);
  const before = histogram.counts;
  histogram.add(0.3, 99);
  histogram.add(7.1);
  const since = histogram.counts.map((count, n) => count - (before[n] ?? 0));
  expect([percentileOf(since, 0.5), percentileOf(since, 0.99), percentileOf(since, 1)]).toEqual([
    0.5, 0.5, 7.25,
  ]);
  expect(percentileOf(new Float64Array(4), 0.5)).toBe(0);
  expect(histogram.percentileMs(1)).toBe(50);
});

it('Ticker with a thread of its own sleeps through the last milliseconds, after pending events', () => {
  const clock = createSimulatedClock();
  const visits: number[] = [];
  const sleptMs: number[] = [];
  let waiting: (() => void) | undefined;
  let oversleptMs = 0;
  const sleep: ThreadSleep = {
    afterEvents(callback) {
      waiting = callback;
      return { cancel: () => (waiting = undefined) };
    },
    sleep(ms) {
      sleptMs.push(ms);
      clock.advance(Math.max(0, ms) + oversleptMs);
    },
  };
  const ticker = new Ticker<string>({
    clock,
    sleep,
    visit: () => visits.push(clock.monotonicMs()),
    onError: (error) => {
      throw error;
    },
  });
  /** Pending events are handled before each callback. */
  const events = (count: number) => {
    for (let n = 0; n < count; n++) {
      const callback = waiting;
      waiting = undefined;
      callback?.();
    }
  };
  ticker.add('first');
  events(1);
  expect([visits, sleptMs, clock.pendingTimers()]).toEqual([[0], [0], 1]);
  // The timer fires well before the tick, late as timers are.
  clock.advance(19.625);
  expect([visits, clock.pendingTimers()]).toEqual([[0], 0]);
  events(1);
  expect([visits, sleptMs]).toEqual([
    [0, 20],
    [0, 0.375],
  ]);
  // One member in each phase: short sleeps between them.
  for (let n = 1; n < 10; n++) ticker.add(`${n}`);
  events(11);
  expect(visits.slice(2)).toEqual([22, 24, 26, 28, 30, 32, 34, 36, 38, 40, 42]);
  expect(sleptMs.slice(2)).toEqual(new Array(11).fill(2));
  // The thread gets no processor while it sleeps: packets that came meanwhile are received before the tick.
  oversleptMs = 200;
  events(1);
  expect(visits.at(-1)).toBe(42);
  oversleptMs = 0;
  events(1);
  expect(visits.at(-1)).toBe(244);
  ticker.remove('first');
  for (let n = 1; n < 10; n++) ticker.remove(`${n}`);
  // Nor while it waits for its timer.
  ticker.add('only');
  events(2);
  const ticks = visits.length;
  clock.advance(300);
  events(1);
  expect(visits).toHaveLength(ticks);
  events(1);
  expect(visits.slice(ticks)).toEqual([clock.monotonicMs()]);
  ticker.remove('only');
  expect([waiting, clock.pendingTimers()]).toEqual([undefined, 0]);
});
