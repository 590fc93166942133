import { expect, test } from 'vitest';

import type { MediaObservations } from '../../src/media/mediaQuality.ts';
import { MAX_SAMPLES, type MediaSample, MediaSampler, MediaSeries } from '../../src/media/mediaSamples.ts';

const seen = (packetsReceived: number, packetsLost: number): MediaObservations => ({
  codec: 'PCMU',
  packetsReceived,
  packetsLost,
  packetsLate: 0,
  shed: 0,
  concealedMs: 0,
  underruns: 0,
  lossBursts: packetsLost === 0 ? 0 : 1,
  jitterMs: 1.26,
  jitterBufferMs: 60,
  bufferDelayMs: 60,
  roundTripMs: undefined,
});

const sample = (atMs: number, more: Partial<MediaSample> = {}): MediaSample => ({
  atMs,
  packetsReceived: 250,
  packetsLost: 0,
  jitterMs: 1,
  mos: 4.4,
  roundTripMs: null,
  ...more,
});

test('A media sample has the figures of its own five seconds', () => {
  const sampler = new MediaSampler();
  expect(sampler.tick(1000, () => seen(0, 0))).toBeUndefined();
  expect(sampler.tick(5999, () => seen(250, 0))).toBeUndefined();
  const good = sampler.tick(6000, () => seen(250, 0));
  const bad = sampler.tick(11_000, () => seen(450, 50));
  const silent = sampler.tick(16_000, () => seen(450, 49));
  expect(good).toMatchObject({ atMs: 6000, packetsReceived: 250, packetsLost: 0, jitterMs: 1.3 });
  expect(bad).toMatchObject({ packetsReceived: 200, packetsLost: 50, roundTripMs: null });
  expect(good?.mos).toBeGreaterThan(4);
  expect(bad?.mos).toBeLessThan(2.5);
  // A packet that was counted as lost has come late.
  expect(silent).toMatchObject({ packetsReceived: 0, packetsLost: 0, mos: null });
});

test('A media series of any length keeps a bounded number of samples, and a short fault', () => {
  const series = new MediaSeries();
  const fault = { packetsLost: 9, jitterMs: 80, mos: 1.5, roundTripMs: 300 };
  const count = 2 * MAX_SAMPLES + 3;
  for (let n = 0; n < count; n++) series.add(sample(n, n === 101 ? fault : {}));
  const { intervalMs, samples } = series.samples;
  expect(intervalMs).toBe(20_000);
  expect(samples.length).toBe(MAX_SAMPLES / 2);
  expect(samples.map(({ atMs }) => atMs)).toEqual(samples.map((_, n) => 4 * n + 3));
  expect(samples[25]).toEqual({ atMs: 103, packetsReceived: 1000, ...fault });
  expect(samples[26]).toEqual(sample(107, { packetsReceived: 1000 }));
});
