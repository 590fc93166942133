import { describe, expect, test } from 'vitest';
import { FailoverPlayer } from '../../../src/media/agentStream/failoverPlayer.ts';
import { frameLength } from '../../../src/media/resample/frameResampler.ts';
import type { SampleRateHz } from '../../../src/media/resample/resampler.ts';

const constant = (value: number, count: number) => new Int16Array(count).fill(value);
const WORDS = { waiting: constant(100, 800), apology: constant(200, 800) };

/** Frames of a call without an engine, each told by its first sample that is not silent. */
function listen(standby: FailoverPlayer, fromMs: number, toMs: number, rateHz: SampleRateHz = 8000) {
  const heard: [atMs: number, sample: number][] = [];
  for (let nowMs = fromMs; nowMs < toMs; nowMs += 20) {
    const frame = new Int16Array(frameLength(rateHz));
    const sounds = standby.pull(frame, nowMs);
    expect(sounds || frame.every((sample) => sample === 0)).toBe(true);
    if (sounds) heard.push([nowMs, frame.find((sample) => sample !== 0) ?? 0]);
  }
  return heard;
}
const times = (heard: readonly (readonly [number, number])[]) => heard.map(([atMs]) => atMs);
const range = (fromMs: number, toMs: number) =>
  Array.from({ length: (toMs - fromMs) / 20 }, (_, n) => fromMs + 20 * n);

describe('while no engine is there', () => {
  test('nothing is heard of a break that is mended at once', () => {
    const standby = new FailoverPlayer(8000);
    standby.keep(WORDS, 8000);
    standby.start(0);
    expect(listen(standby, 0, 680)).toEqual([]);
    standby.stop();
    expect(listen(standby, 680, 10_000)).toEqual([]);
  });

  test('the words that were left are heard once, and then a soft tone every few seconds', () => {
    const standby = new FailoverPlayer(8000);
    standby.keep(WORDS, 8000);
    standby.start(0);
    const words = listen(standby, 0, 3000);
    expect(words).toEqual(range(700, 800).map((atMs) => [atMs, 100]));
    const tones = listen(standby, 3000, 8000);
    expect(times(tones)).toEqual([...range(3800, 4000), ...range(7000, 7200)]);
    expect(tones.every(([, sample]) => Math.abs(sample) < 1500)).toBe(true);
  });

  test.each([
    ['nothing was left', undefined],
    ['no words could be made', { waiting: constant(0, 0), apology: constant(0, 0) }],
  ])('the tone alone is heard where %s', (_why, words) => {
    const standby = new FailoverPlayer(8000);
    if (words) standby.keep(words, 8000);
    standby.start(0);
    expect(times(listen(standby, 0, 1000))).toEqual(range(700, 900));
  });

  test('an attempt that fails does not begin the wait anew', () => {
    const standby = new FailoverPlayer(8000);
    standby.keep(WORDS, 8000);
    standby.start(0);
    standby.start(600);
    expect(times(listen(standby, 600, 720))).toEqual([700]);
  });

  test('words are said to their end when an engine is back, unless it speaks', () => {
    const standby = new FailoverPlayer(8000);
    standby.keep(WORDS, 8000);
    standby.start(0);
    listen(standby, 0, 740);
    standby.stop();
    expect(times(listen(standby, 740, 5000))).toEqual(range(740, 800));
    standby.start(5000);
    listen(standby, 5000, 5740);
    standby.stop();
    standby.interrupt();
    expect(listen(standby, 5740, 10_000)).toEqual([]);
  });

  test('words at another rate than the codec’s last as long', () => {
    const standby = new FailoverPlayer(8000);
    standby.keep({ ...WORDS, waiting: constant(100, 1600) }, 16_000);
    standby.start(0);
    expect(times(listen(standby, 0, 740))).toEqual([700, 720]);
    standby.changeRate(48_000);
    expect(times(listen(standby, 740, 1000, 48_000))).toEqual([740, 760, 780]);
  });

  test('words longer than ten seconds are cut', () => {
    const standby = new FailoverPlayer(8000);
    standby.keep({ waiting: constant(100, 30 * 8000), apology: constant(0, 0) }, 8000);
    standby.start(0);
    expect(times(listen(standby, 0, 13_000))).toEqual(range(700, 10_700));
  });
});

describe('the apology', () => {
  test('is over when it is out, and nothing comes after it', async () => {
    const standby = new FailoverPlayer(8000);
    standby.keep(WORDS, 8000);
    standby.start(0);
    listen(standby, 0, 720);
    let isOver = false;
    const over = standby.playApology().then(() => {
      isOver = true;
    });
    expect(listen(standby, 720, 800)).toEqual(range(720, 800).map((atMs) => [atMs, 200]));
    await Promise.resolve();
    expect(isOver).toBe(false);
    expect(times(listen(standby, 800, 10_000))).toEqual([800]);
    await over;
  });

  test('is over at once where there are no words', async () => {
    await new FailoverPlayer(8000).playApology();
  });

  test('is over when the call is', async () => {
    const standby = new FailoverPlayer(8000);
    standby.keep(WORDS, 8000);
    const over = standby.playApology();
    standby.close();
    await over;
    expect(listen(standby, 0, 2000)).toEqual([]);
  });
});
