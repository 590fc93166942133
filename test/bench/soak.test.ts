import { describe, expect, test } from 'vitest';

import { driftOf, type Sample } from '../../bench/soak/drift.ts';
import { readNumbers } from '../../bench/soak/numbers.ts';
import { draw } from '../../bench/soak/picture.ts';

/** A figure of `from` at the start and `to` at the end of eight minutes. */
const line = (from: number, to: number, of: 'rss' | 'turnP95' = 'rss'): Sample[] =>
  Array.from({ length: 9 }, (_, minute) => ({ atMinutes: minute, [of]: from + ((to - from) * minute) / 8 }));

describe('drift', () => {
  test.each([
    ['nothing', 500, 500, false],
    ['noise', 100, 145, false],
    ['a tenth of much', 1000, 1100, false],
    ['beyond a tenth and beyond noise', 500, 600, true],
    ['down', 900, 300, false],
  ])('that is %s', (_what, from, to, isBeyond) => {
    expect(driftOf(line(from, to), 'rss')).toMatchObject({ fromMinutes: 2, toMinutes: 8, to, isBeyond });
  });

  test('is reported but not judged for figures of the machine', () => {
    const busy = line(0, 40).map(({ atMinutes, rss = 0 }) => ({ atMinutes, load: rss }));
    expect(driftOf(busy, 'load')).toMatchObject({ to: 40, isBeyond: false });
  });

  test('ignores the warm-up, too few points, and other figures', () => {
    const warming = [{ atMinutes: -1, rss: 1 }, ...line(500, 500)];
    expect(driftOf(warming, 'rss')).toMatchObject({ from: 500, to: 500 });
    expect(driftOf(line(1, 2).slice(0, 5), 'rss')).toBeUndefined();
    expect(driftOf(line(1, 2), 'heap')).toBeUndefined();
  });

  test('is the least-squares line: one outlier tilts it a little', () => {
    const wild = line(500, 500).map((sample) => (sample.atMinutes === 5 ? { ...sample, rss: 1200 } : sample));
    expect(driftOf(wild, 'rss')).toMatchObject({ from: 600, to: 600, isBeyond: false });
  });
});

test('the service’s figures are parsed from its metrics; missing ones are left out', () => {
  const text = [
    '# TYPE process_open_fds gauge',
    'process_open_fds 41',
    'process_resident_memory_bytes 512000000',
    'nodejs_eventloop_lag_p99_seconds 0.012',
    'nodejs_heap_size_used_bytes Nan',
  ].join('\n');
  expect(readNumbers(text)).toEqual({ descriptors: 41, rss: 512, lag: 12 });
});

test('the picture has a panel for each measured figure, and escapes names', () => {
  const svg = draw([...line(500, 800), ...line(900, 900, 'turnP95')], '<8 min> & more');
  expect(svg.match(/<polyline/g)).toHaveLength(2);
  expect(svg).toContain('&lt;8 min> &amp; more');
  expect(svg).toContain('stroke="#c22"');
  expect(svg).not.toContain('NaN');
});
