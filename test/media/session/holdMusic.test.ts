import { describe, expect, test } from 'vitest';

import { SAMPLE_RATES_HZ, type SampleRateHz } from '../../../src/media/resample/resampler.ts';
import { HoldMusic, MUSIC_RATE_HZ, type MusicSource } from '../../../src/media/session/holdMusic.ts';
import { rootMeanSquare, tone, tonePower } from '../support/signals.ts';

/** The next seconds of music. */
function play(music: HoldMusic, sampleRateHz: SampleRateHz, seconds: number): Int16Array {
  const length = sampleRateHz / 50;
  const out = new Int16Array(seconds * sampleRateHz);
  for (let at = 0; at < out.length; at += length) music.pull(out.subarray(at, at + length));
  return out;
}

const CLIP: MusicSource = { kind: 'clip', samples: tone(MUSIC_RATE_HZ, 500, MUSIC_RATE_HZ / 10) };

describe('Hold music', () => {
  test.each(SAMPLE_RATES_HZ)('repeats a clip at %i Hz', (rateHz) => {
    const heard = play(new HoldMusic(CLIP, rateHz), rateHz, 1);
    const expected = tonePower(tone(rateHz, 500, rateHz), rateHz, 500);
    expect(tonePower(heard, rateHz, 500) / expected).toBeGreaterThan(0.9);
  });

  test('is never silent for long, never loud, and the same for everybody', () => {
    const heard = play(new HoldMusic({ kind: 'default' }, MUSIC_RATE_HZ), MUSIC_RATE_HZ, 20);
    const tenths = Array.from({ length: 200 }, (_, n) => heard.subarray(n * 800, (n + 1) * 800));
    expect(Math.min(...tenths.map(rootMeanSquare))).toBeGreaterThan(200);
    expect(heard.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0)).toBeLessThan(12_000);
    expect(play(new HoldMusic({ kind: 'default' }, MUSIC_RATE_HZ), MUSIC_RATE_HZ, 20)).toEqual(heard);
  });

  test('goes on where it was when the call changes its codec', () => {
    const music = new HoldMusic(CLIP, 8000);
    play(music, 8000, 1);
    music.changeRate(16_000);
    const heard = play(music, 16_000, 1);
    expect(tonePower(heard, 16_000, 500) / tonePower(tone(16_000, 500, 16_000), 16_000, 500)).toBeGreaterThan(
      0.9,
    );
  });
});
