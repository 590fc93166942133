import { describe, expect, it } from 'vitest';
import {
  createResampler,
  isSampleRate,
  SAMPLE_RATES_HZ,
  type SampleRateHz,
} from '../../../src/media/resample/resampler.ts';
import { createRandom, tone, tonePower, voiced } from '../support/signals.ts';

const AMPLITUDE = 10_000;
/** Seconds; long enough to resolve one frequency. */
const SECONDS = 0.5;

/** Resamples in frames of 20 ms, without the filter's transient. */
function resample(input: Int16Array, from: SampleRateHz, to: SampleRateHz): Int16Array {
  const frame = from / 50;
  const resampler = createResampler(from, to, frame);
  const output = new Int16Array((input.length * to) / from + 100);
  let written = 0;
  for (let at = 0; at < input.length; at += frame) {
    written += resampler.process(input.subarray(at, at + frame), output.subarray(written));
  }
  return output.subarray(to / 50, written);
}

const levelDb = (samples: Int16Array, rateHz: number, frequencyHz: number) =>
  10 * Math.log10(tonePower(samples, rateHz, frequencyHz) / AMPLITUDE ** 2 + 1e-12);

const pairs = SAMPLE_RATES_HZ.flatMap((from) =>
  SAMPLE_RATES_HZ.filter((to) => to !== from).map((to) => ({ from, to })),
);

/** Frequencies of a tone's images and aliases, below half the rate. */
function imagesAndAliases(frequencyHz: number, from: number, to: number): number[] {
  const common = 48_000;
  const found = new Set<number>();
  for (let k = 0; k <= common / 8000; k++) {
    for (const base of [from, to, 8000, 16_000, 24_000]) {
      for (const mirrored of [k * base + frequencyHz, k * base - frequencyHz]) {
        const folded = Math.abs(mirrored - to * Math.round(mirrored / to));
        if (folded > 0 && Math.abs(folded - frequencyHz) > 50 && folded <= to / 2) found.add(folded);
      }
    }
  }
  return [...found];
}

describe.each(pairs)('$from to $to Hz', ({ from, to }) => {
  const lower = Math.min(from, to);
  const pass = 0.425 * lower;

  it('passes speech within 0.5 dB, without images and aliases above -60 dB', () => {
    for (let frequencyHz = 150; frequencyHz <= pass; frequencyHz += lower / 40) {
      const output = resample(tone(from, frequencyHz, from * SECONDS, AMPLITUDE), from, to);
      expect(Math.abs(levelDb(output, to, frequencyHz))).toBeLessThan(0.5);
      for (const image of imagesAndAliases(frequencyHz, from, to)) {
        expect(levelDb(output, to, image), `${frequencyHz} at ${image}`).toBeLessThan(-60);
      }
    }
  });

  it('attenuates frequencies above the band', () => {
    for (let frequencyHz = 0.575 * lower; frequencyHz < from / 2; frequencyHz += lower / 30) {
      const output = resample(tone(from, frequencyHz, from * SECONDS, AMPLITUDE), from, to);
      const folded = Math.abs(frequencyHz - to * Math.round(frequencyHz / to));
      if (folded < 100) continue; // the look at one frequency is too wide there
      expect(levelDb(output, to, folded), `${frequencyHz}`).toBeLessThan(-60);
    }
  });

  it('keeps the duration, independent of the chunks', () => {
    const input = voiced(from, from / 2);
    const whole = createResampler(from, to, input.length);
    const expected = new Int16Array(whole.maxOutput(input.length));
    expect(whole.process(input, expected)).toBe((input.length * to) / from);

    const pieces = createResampler(from, to, 400);
    const random = createRandom(from + to);
    const actual = new Int16Array(expected.length + 1000);
    let written = 0;
    for (let at = 0; at < input.length; ) {
      const end = Math.min(input.length, at + Math.floor(random() * 400));
      written += pieces.process(input.subarray(at, end), actual.subarray(written));
      at = end;
    }
    expect(actual.subarray(0, written)).toEqual(expected);
  });
});

describe('resampler', () => {
  it('copies samples between equal rates', () => {
    const output = new Int16Array(3);
    expect(createResampler(8000, 8000, 3).process(Int16Array.of(1, 2, 3), output)).toBe(3);
    expect([...output]).toEqual([1, 2, 3]);
  });

  it('clips instead of wrapping', () => {
    const square = Int16Array.from({ length: 800 }, (_, n) =>
      Math.floor(n / 20) % 2 === 0 ? 32_767 : -32_768,
    );
    const output = resample(square, 8000, 16_000);
    const steps = [...output.keys()].slice(1).map((n) => Math.abs((output[n] ?? 0) - (output[n - 1] ?? 0)));
    expect([Math.max(...output), Math.min(...output)]).toEqual([32_767, -32_768]);
    expect(Math.max(...steps)).toBeLessThan(45_000); // a wrap would be a step of 65,535
  });

  it('refuses an input above the maximum and an output that is too small', () => {
    const resampler = createResampler(8000, 16_000, 160);
    expect(() => resampler.process(new Int16Array(161), new Int16Array(400))).toThrow(
      'more than the maximum',
    );
    expect(() => resampler.process(new Int16Array(160), new Int16Array(319))).toThrow('does not fit');
  });

  it('recognises its rates', () => {
    expect([8000, 44_100, 48_000].map(isSampleRate)).toEqual([true, false, true]);
  });
});
