import { describe, expect, it } from 'vitest';
import { DelayHistogram } from '../../../src/media/ticker/delayHistogram.ts';
import { TickSchedule } from '../../../src/media/ticker/tickSchedule.ts';
import { createRandom } from '../support/signals.ts';

function create(startMs = 0) {
  const visits: { member: string; atMs: number; deadlineMs: number; lateMs: number; skipped: number }[] = [];
  const errors: unknown[] = [];
  let nowMs = startMs;
  const schedule = new TickSchedule<string>({
    startMs,
    visit(member, { deadlineMs, lateMs, skippedTicks }) {
      if (member === 'broken') throw new Error('broken');
      visits.push({ member, atMs: nowMs, deadlineMs, lateMs, skipped: skippedTicks });
    },
    onError: (error) => errors.push(error),
  });
  const run = (atMs: number) => {
    nowMs = atMs;
    schedule.run(atMs);
  };
  /** Runs the schedule as a timer that is `latenessMs` late each time. */
  const runUntil = (endMs: number, latenessMs: () => number = () => 0) => {
    for (;;) {
      const dueMs = schedule.nextDueMs();
      if (dueMs === undefined || dueMs > endMs) return;
      run(Math.max(nowMs, dueMs) + latenessMs());
    }
  };
  return { schedule, visits, errors, run, runUntil };
}

describe('TickSchedule', () => {
  it('distributes calls over the phases, one every two milliseconds', () => {
    const { schedule, visits, runUntil } = create();
    for (let n = 0; n < 40; n++) schedule.add(`${n}`, 0);
    runUntil(19);
    expect(visits.map((visit) => visit.atMs)).toEqual(Array.from({ length: 40 }, (_, n) => 2 * (n >> 2)));
  });

  it('adds a member to the emptiest phase', () => {
    const { schedule, visits, runUntil } = create();
    for (let n = 0; n < 20; n++) schedule.add(`${n}`, 0);
    schedule.remove('7');
    schedule.remove('7');
    schedule.add('new', 0);
    schedule.add('new', 0);
    expect(schedule.size).toBe(20);
    runUntil(19);
    expect(visits.find((visit) => visit.member === 'new')?.atMs).toBe(14);
  });

  it('neither drifts nor skips ticks in an hour of late timers', () => {
    const { schedule, visits, runUntil } = create();
    const random = createRandom(5);
    schedule.add('call', 0);
    runUntil(3_600_000, () => random() * 7);
    expect(visits.length).toBe(3_600_000 / 20 + 1);
    expect(visits.at(-1)?.deadlineMs).toBe(3_600_000);
    expect(Math.max(...visits.slice(-1000).map((visit) => visit.lateMs))).toBeLessThan(7);
    expect(schedule.skippedTicks).toBe(0);
  });

  it('catches up a stall at double pace, never in a burst', () => {
    const { schedule, visits, run, runUntil } = create();
    schedule.add('call', 0);
    run(0);
    run(85); // 20, 40, 60 and 80 were missed
    runUntil(200);
    expect(visits.map((visit) => visit.atMs)).toEqual([0, 85, 95, 105, 115, 125, 135, 145, 160, 180, 200]);
    expect(visits.map((visit) => visit.deadlineMs)).toEqual([
      0, 20, 40, 60, 80, 100, 120, 140, 160, 180, 200,
    ]);
  });

  it('visits a member once for repeated runs', () => {
    const { schedule, visits, run } = create();
    schedule.add('call', 0);
    for (let n = 0; n < 5; n++) run(100);
    expect(visits.length).toBe(1);
  });

  it('skips and reports ticks that are too late, which count in the delays as long as the stall', () => {
    const { schedule, visits, run, runUntil } = create();
    schedule.add('call', 0);
    run(0);
    run(1007);
    runUntil(1040);
    expect(visits.slice(1)).toEqual([
      { member: 'call', atMs: 1007, deadlineMs: 1000, lateMs: 7, skipped: 49 },
      { member: 'call', atMs: 1020, deadlineMs: 1020, lateMs: 0, skipped: 0 },
      { member: 'call', atMs: 1040, deadlineMs: 1040, lateMs: 0, skipped: 0 },
    ]);
    expect([schedule.skippedTicks, schedule.delays.total, schedule.delays.maxMs]).toEqual([49, 53, 987]);
    expect(schedule.delays.percentileMs(0.1)).toBeGreaterThan(100);
  });

  it('starts with the next deadline on the grid of the start', () => {
    const { schedule, visits, runUntil } = create(1003.5);
    schedule.add('call', 5000);
    expect(schedule.nextDueMs()).toBe(5003.5);
    runUntil(5003.5);
    expect(visits[0]).toMatchObject({ atMs: 5003.5, lateMs: 0, skipped: 0 });
  });

  it('has no deadline without members', () => {
    const { schedule } = create();
    expect(schedule.nextDueMs()).toBeUndefined();
    schedule.add('call', 0);
    schedule.remove('call');
    expect(schedule.nextDueMs()).toBeUndefined();
  });

  it('visits the others when one fails', () => {
    const { schedule, visits, errors, run } = create();
    for (const member of ['broken', ...Array.from({ length: 20 }, (_, n) => `${n}`)]) schedule.add(member, 0);
    run(19);
    expect(visits.length).toBe(20);
    expect(errors.length).toBe(1);
  });

  it('lets a member tick sooner, by half an interval at most, without a tick more or less', () => {
    const { schedule, visits, runUntil } = create();
    schedule.add('call', 0);
    runUntil(40);
    expect(schedule.advance('call', 3)).toBe(2);
    runUntil(80);
    expect(schedule.advance('call', 15)).toBe(10);
    runUntil(140);
    expect(visits.map(({ atMs }) => atMs)).toEqual([0, 20, 40, 58, 78, 88, 108, 128]);
    expect(visits.every(({ lateMs, skipped }) => lateMs === 0 && skipped === 0)).toBe(true);
    expect(schedule.advance('stranger', 10)).toBe(0);
  });

  it('does not crowd a phase', () => {
    const { schedule, runUntil } = create();
    for (let n = 0; n < 40; n++) schedule.add(`${n}`, 0);
    runUntil(19);
    // Four in each phase: three more find room in the one before the last.
    const movers = ['9', '19', '29', '39'];
    expect(movers.map((member) => schedule.advance(member, 3))).toEqual([2, 2, 2, 0]);
  });

  it.each([
    ['its own tick is late', 39],
    ['the sooner phase is late', 21],
  ])('leaves a member where %s, so that it does not tick twice at once', (_, atMs) => {
    const advanced: number[] = [];
    const schedule = new TickSchedule<string>({
      startMs: 0,
      visit(member, { deadlineMs }) {
        if (member === 'first' && deadlineMs > 0) advanced.push(schedule.advance(member, 2));
      },
      onError(error) {
        throw error;
      },
    });
    for (const member of ['first', ...Array.from({ length: 9 }, (_, n) => `${n}`)]) schedule.add(member, 0);
    schedule.run(0);
    schedule.run(atMs);
    expect(advanced).toEqual([0]);
  });

  it('removes a member during its visit', () => {
    const left: string[] = [];
    const schedule = new TickSchedule<string>({
      startMs: 0,
      visit(member) {
        left.push(member);
        schedule.remove(member);
      },
      onError: () => {},
    });
    for (let n = 0; n < 40; n++) schedule.add(`${n}`, 0);
    schedule.run(19);
    schedule.run(100);
    expect(new Set(left).size).toBe(40);
    expect(left.length).toBe(40);
  });
});

describe('DelayHistogram', () => {
  it('gives percentiles to a quarter of a millisecond', () => {
    const histogram = new DelayHistogram();
    for (let n = 0; n < 1000; n++) histogram.add(n / 100); // 0 to 9.99 ms
    expect(histogram.percentileMs(0.5)).toBe(5);
    expect(histogram.percentileMs(0.99)).toBe(9.99);
    expect(histogram.percentileMs(0.9)).toBe(9);
    expect(histogram).toMatchObject({ total: 1000, maxMs: 9.99 });
  });

  it('counts very long, negative and no delays', () => {
    const histogram = new DelayHistogram();
    expect(histogram.percentileMs(0.99)).toBe(0);
    histogram.add(-0.1, 98);
    histogram.add(5000, 2);
    expect(histogram.percentileMs(0.98)).toBe(0.25);
    expect(histogram.percentileMs(0.99)).toBe(100.25);
    expect(histogram.maxMs).toBe(5000);
  });
});
