import { describe, expect, it } from 'vitest';
import { ReceptionTracker } from '../../../src/media/rtp/receptionTracker.ts';
import { SourceStatistics } from '../../../src/media/rtp/sourceStatistics.ts';

/** PCMU at 20 ms, with sequence numbers from `first`, in time. */
function feed(statistics: SourceStatistics, sequence: readonly number[]) {
  return sequence.map((n) => statistics.receive(n & 0xffff, (n * 160) >>> 0, n * 20));
}
const from = (first: number, count: number) => Array.from({ length: count }, (_, index) => first + index);

describe('SourceStatistics', () => {
  it('validates a source after two packets in sequence', () => {
    const statistics = new SourceStatistics(1, 8000, 10);
    expect(feed(statistics, [10, 12, 13, 14])).toEqual(['probation', 'probation', 'valid', 'valid']);
    expect(statistics).toMatchObject({ packetsReceived: 2, packetsExpected: 2, packetsLost: 0 });
  });

  it('counts loss across the wrap, and reports each interval separately', () => {
    const statistics = new SourceStatistics(1, 8000, 65530);
    feed(statistics, from(65530, 4)); // 65531..65533 count
    feed(statistics, [65536, 65537]); // 65534 and 65535 are lost
    expect(statistics.extendedHighestSequence).toBe(65537);
    expect(statistics.lossBursts).toBe(1);
    expect(statistics.report()).toEqual({
      fractionLost: Math.floor((2 * 256) / 7),
      cumulativeLost: 2,
      extendedHighestSequence: 65537,
      jitterTicks: 0,
    });
    feed(statistics, from(65538, 10));
    expect(statistics.report()).toMatchObject({ fractionLost: 0, cumulativeLost: 2 });
  });

  it('does not count duplicates and reordered packets as loss', () => {
    const statistics = new SourceStatistics(1, 8000, 0);
    feed(statistics, [0, 1, 3, 2, 3]);
    expect(statistics.packetsLost).toBe(0);
    expect(statistics.report().cumulativeLost).toBe(-1);
  });

  it('accepts a jump when the next packet confirms it', () => {
    const statistics = new SourceStatistics(1, 8000, 100);
    expect(feed(statistics, [100, 101, 102, 40000, 103, 40001])).toEqual([
      'probation',
      'valid',
      'valid',
      'jumped',
      'valid',
      'jumped',
    ]);
    expect(feed(statistics, [40002, 40003])).toEqual(['restarted', 'valid']);
    expect(statistics).toMatchObject({ packetsReceived: 5, packetsLost: 0 });
  });

  it('smooths jitter as RFC 3550 does', () => {
    const statistics = new SourceStatistics(1, 8000, 0);
    const arrivals = [0, 20, 45, 60]; // deviations of the spacing: 0, +5, -5 ms
    for (const [n, arrivalMs] of arrivals.entries()) statistics.receive(n, n * 160, arrivalMs);
    const afterFirst = 40 / 16;
    expect(statistics.jitterMs).toBeCloseTo((afterFirst + (40 - afterFirst) / 16) / 8, 9);
  });

  it('measures jitter across the wrap of the timestamp', () => {
    const statistics = new SourceStatistics(1, 8000, 0);
    const timestamps = [0xffffff60, 0, 160, 320];
    for (const [n, timestamp] of timestamps.entries()) statistics.receive(n, timestamp, n * 20);
    expect(statistics.jitterMs).toBeCloseTo(0, 6);
  });

  it('measures no jitter between the last packet of a sequence and the first of the next', () => {
    const statistics = new SourceStatistics(1, 8000, 0);
    feed(statistics, from(0, 10));
    const verdicts = [0, 1, 2, 3].map((n) =>
      statistics.receive(40_000 + n, 7_000_000 + n * 160, 200 + n * 20),
    );
    expect(verdicts).toEqual(['jumped', 'restarted', 'valid', 'valid']);
    expect(statistics.jitterMs).toBe(0);
  });

  it('clamps the cumulative loss to 24 bits', () => {
    const statistics = new SourceStatistics(1, 8000, 0);
    feed(statistics, [0, 1]);
    for (let n = 0; n < 3000; n++) statistics.receive((1 + (n + 1) * 2999) & 0xffff, 0, 0);
    expect(statistics.report()).toMatchObject({ cumulativeLost: 0x7fffff, fractionLost: 255 });
  });
});

describe('ReceptionTracker', () => {
  it('changes to a new source after two packets, and keeps the totals', () => {
    const tracker = new ReceptionTracker(8000);
    for (const n of [0, 1, 2, 4]) tracker.receive(1, n, n * 160, n * 20);
    expect(tracker.receive(2, 900, 0, 100)).toBe('probation');
    expect(tracker.receive(1, 5, 800, 100)).toBe('valid');
    expect(tracker.receive(2, 901, 160, 120)).toBe('source_changed');
    expect(tracker.source?.ssrc).toBe(2);
    expect(tracker).toMatchObject({ packetsReceived: 5, packetsLost: 1, lossBursts: 1 });
    expect(tracker.receive(2, 902, 320, 140)).toBe('valid');
    expect(tracker.packetsReceived).toBe(6);
  });

  it('does not take packets of two new sources for a sequence of one', () => {
    const tracker = new ReceptionTracker(8000);
    for (const n of [0, 1]) tracker.receive(1, n, n * 160, n * 20);
    expect(tracker.receive(2, 900, 0, 40)).toBe('probation');
    expect(tracker.receive(3, 901, 160, 60)).toBe('probation');
    expect(tracker.source?.ssrc).toBe(1);
    expect(tracker.receive(3, 902, 320, 80)).toBe('source_changed');
    expect(tracker.source?.ssrc).toBe(3);
  });

  it('ignores single packets of other sources', () => {
    const tracker = new ReceptionTracker(8000);
    tracker.receive(1, 0, 0, 0);
    for (let ssrc = 2; ssrc < 100; ssrc++) expect(tracker.receive(ssrc, 5, 0, 0)).toBe('probation');
    expect(tracker.receive(1, 1, 160, 20)).toBe('valid');
    expect(tracker.source?.ssrc).toBe(1);
  });
});
