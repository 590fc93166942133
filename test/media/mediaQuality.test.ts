import { describe, expect, it } from 'vitest';
import { meanOpinionScore, rateMedia, ratingFactor } from '../../src/media/mediaQuality.ts';

const perfect = { codec: 'PCMA', oneWayDelayMs: 50, lossRatio: 0, meanLossBurst: 1 } as const;

describe('E-model', () => {
  it.each([
    // ITU-T G.107: default rating 93.2 is a score of 4.41; table B.1: R 90, 80, 70, 60, 50
    [93.2, 4.41],
    [90, 4.34],
    [80, 4.024],
    [70, 3.6],
    [60, 3.1],
    [50, 2.58],
    [0, 1],
    [-5, 1],
    [2, 1],
    [100, 4.5],
  ])('a rating of %d is a score of %d', (rating, score) => {
    expect(meanOpinionScore(rating)).toBeCloseTo(score, 2);
  });

  it.each([
    { name: 'nothing wrong', change: {}, rating: 93.2 },
    { name: 'delay up to 100 ms is free', change: { oneWayDelayMs: 100 }, rating: 93.2 },
    // Idd by its formula, X = 1: 25 (2^(1/6) - 3 (1 + 3^-6)^(1/6) + 2)
    {
      name: '200 ms',
      change: { oneWayDelayMs: 200 },
      rating: 93.2 - 25 * (2 ** (1 / 6) - 3 * (1 + 3 ** -6) ** (1 / 6) + 2),
    },
    // 95 * Ppl / (Ppl + 25.1)
    { name: '1 % of loss', change: { lossRatio: 0.01 }, rating: 93.2 - 95 / 26.1 },
    { name: '5 % of loss', change: { lossRatio: 0.05 }, rating: 93.2 - (95 * 5) / 30.1 },
    // bursts of 4 at 5 %: BurstR 3.8
    {
      name: '5 % in bursts',
      change: { lossRatio: 0.05, meanLossBurst: 4 },
      rating: 93.2 - (95 * 5) / (5 / 3.8 + 25.1),
    },
    { name: 'all lost', change: { lossRatio: 1 }, rating: 93.2 - (95 * 100) / 125.1 },
    { name: 'hopeless', change: { lossRatio: 1, oneWayDelayMs: 2000 }, rating: 0 },
  ])('$name', ({ change, rating }) => {
    expect(ratingFactor({ ...perfect, ...change })).toBeCloseTo(rating, 6);
  });
});

describe('rateMedia', () => {
  const seen = {
    codec: 'PCMU',
    packetsReceived: 990,
    packetsLost: 10,
    packetsLate: 5,
    shed: 0,
    concealedMs: 40.4,
    underruns: 3,
    lossBursts: 10,
    jitterMs: 3.5,
    jitterBufferMs: 45.6,
    bufferDelayMs: 40,
    roundTripMs: 60,
  } as const;

  it('counts late packets as lost, and rates the call', () => {
    const figures = rateMedia(seen);
    expect(figures).toMatchObject({ codec: 'PCMU', packetsReceived: 990, packetsLost: 15, jitterMs: 3.5 });
    expect(figures.mos).toBeCloseTo(meanOpinionScore(93.2 - (95 * 1.5) / 26.6), 6);
  });

  it('counts shed packets as lost, also in the score, and shows what was made up for them', () => {
    const figures = rateMedia({ ...seen, packetsLost: 0, packetsLate: 0, shed: 660, lossBursts: 0 });
    expect(figures).toMatchObject({ packetsLost: 660, shed: 660, concealedMs: 40, underruns: 3 });
    expect(figures).toMatchObject({ jitterBufferMs: 46 });
    expect(figures.mos).toBeLessThan(1.5);
  });

  it('assumes a network delay without a round trip', () => {
    const near = rateMedia({ ...seen, roundTripMs: undefined });
    const far = rateMedia({ ...seen, roundTripMs: 600 });
    expect(near.mos).toBeGreaterThan(far.mos ?? 5);
  });

  it('has no score before the first packet', () => {
    expect(rateMedia({ ...seen, packetsReceived: 0, packetsLost: 0, packetsLate: 0 }).mos).toBeUndefined();
  });
});
