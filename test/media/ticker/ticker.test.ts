import { expect, it } from 'vitest';
import { LatenessHistogram, percentileOf } from '../../../src/media/ticker/latenessHistogram.ts';
import { Ticker } from '../../../src/media/ticker/ticker.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

it('visits each member every 20 ms, from one timer that rests while there are none', () => {
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
  // The second call is in the phase one millisecond later.
  expect(visits).toEqual(['a 0', 'b 1', 'a 20', 'b 21', 'a 40', 'b 41']);
  ticker.remove('a');
  ticker.remove('a');
  clock.advance(20);
  expect(visits.slice(6)).toEqual(['b 61']);
  ticker.remove('b');
  expect(clock.pendingTimers()).toBe(0);
  expect(ticker.lateness.total).toBe(7);
});

it('goes on when a visit fails, and lets it take itself out', () => {
  const clock = createSimulatedClock();
  const failed: string[] = [];
  let visits = 0;
  const ticker: Ticker<string> = new Ticker<string>({
    clock,
    visit: (member) => {
      if (member === 'bad') throw new Error('bad');
      visits++;
    },
    onError: (_error, member) => {
      failed.push(member);
      ticker.remove(member);
    },
  });
  ticker.add('bad');
  ticker.add('good');
  clock.advance(100);
  expect([failed, visits]).toEqual([['bad'], 5]);
});

it('tells how late it was within a stretch of time', () => {
  const histogram = new LatenessHistogram();
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
