import { describe, expect, test } from 'vitest';
import { FailoverPlayer } from '../../../src/media/agentStream/failoverPlayer.ts';
import { frameLength } from '../../../src/media/resample/frameResampler.ts';
import type { SampleRateHz } from '../../../src/media/resample/resampler.ts';

const constant = (value: number, count: number) => new Int16Array(count).fill(value);
const WORDS = { waiting: constant(100, 800), apology: constant(200, 800) };

/** Frames of a call without an agent, each shown by its first sample that is not silent. */
function listen(player: FailoverPlayer, fromMs: number, toMs: number, rateHz: SampleRateHz = 8000) {
  const heard: [atMs: number, sample: number][] = [];
  for (let nowMs = fromMs; nowMs < toMs; nowMs += 20) {
    const frame = new Int16Array(frameLength(rateHz));
    const sounds = player.pull(frame, nowMs);
    expect(sounds || frame.every((sample) => sample === 0)).toBe(true);
    if (sounds) heard.push([nowMs, frame.find((sample) => sample !== 0) ?? 0]);
  }
  return heard;
}
const times = (heard: readonly (readonly [number, number])[]) => heard.map(([atMs]) => atMs);
const range = (fromMs: number, toMs: number) =>
  Array.from({ length: (toMs - fromMs) / 20 }, (_, n) => fromMs + 20 * n);

describe('FailoverPlayer without an agent', () => {
  test('is silent during a short break', () => {
    const player = new FailoverPlayer(8000);
    player.keep(WORDS, 8000);
    player.start(0);
    expect(listen(player, 0, 680)).toEqual([]);
    player.stop();
    expect(listen(player, 680, 10_000)).toEqual([]);
  });

  test('plays the waiting prompt once, and then a soft tone every few seconds', () => {
    const player = new FailoverPlayer(8000);
    player.keep(WORDS, 8000);
    player.start(0);
    const prompts = listen(player, 0, 3000);
    expect(prompts).toEqual(range(700, 800).map((atMs) => [atMs, 100]));
    const tones = listen(player, 3000, 8000);
    expect(times(tones)).toEqual([...range(3800, 4000), ...range(7000, 7200)]);
    expect(tones.every(([, sample]) => Math.abs(sample) < 1500)).toBe(true);
  });

  test.each([
    ['no prompts', undefined],
    ['empty prompts', { waiting: constant(0, 0), apology: constant(0, 0) }],
  ])('plays the tone alone with %s', (_why, prompts) => {
    const player = new FailoverPlayer(8000);
    if (prompts) player.keep(prompts, 8000);
    player.start(0);
    expect(times(listen(player, 0, 1000))).toEqual(range(700, 900));
  });

  test('does not start over after another failed connection', () => {
    const player = new FailoverPlayer(8000);
    player.keep(WORDS, 8000);
    player.start(0);
    player.start(600);
    expect(times(listen(player, 600, 720))).toEqual([700]);
  });

  test('plays a clip to its end when an agent is connected, unless the agent speaks', () => {
    const player = new FailoverPlayer(8000);
    player.keep(WORDS, 8000);
    player.start(0);
    listen(player, 0, 740);
    player.stop();
    expect(times(listen(player, 740, 5000))).toEqual(range(740, 800));
    player.start(5000);
    listen(player, 5000, 5740);
    player.stop();
    player.interrupt();
    expect(listen(player, 5740, 10_000)).toEqual([]);
  });

  test('plays prompts of another rate in their duration', () => {
    const player = new FailoverPlayer(8000);
    player.keep({ ...WORDS, waiting: constant(100, 1600) }, 16_000);
    player.start(0);
    expect(times(listen(player, 0, 740))).toEqual([700, 720]);
    player.changeRate(48_000);
    expect(times(listen(player, 740, 1000, 48_000))).toEqual([740, 760, 780]);
  });

  test('plays ten seconds of a prompt at most', () => {
    const player = new FailoverPlayer(8000);
    player.keep({ waiting: constant(100, 30 * 8000), apology: constant(0, 0) }, 8000);
    player.start(0);
    expect(times(listen(player, 0, 13_000))).toEqual(range(700, 10_700));
  });
});
