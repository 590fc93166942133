import { describe, expect, test } from 'vitest';
import { backgroundNoise, type NoiseKind } from '../../../src/testing/simulator/backgroundNoise.ts';
import { CallerVoice } from '../../../src/testing/simulator/callerVoice.ts';
import { rootMeanSquare, tone } from '../../media/support/signals.ts';

const RATE_HZ = 8000;
const TALK = [tone(RATE_HZ, 300, RATE_HZ), tone(RATE_HZ, 520, RATE_HZ)];
/** Half a second between two quiet ones. */
const WORDS = Int16Array.from([
  ...new Int16Array(RATE_HZ / 2),
  ...tone(RATE_HZ, 440, RATE_HZ / 2),
  ...new Int16Array(RATE_HZ / 2),
]);

function voice(noise: NoiseKind | undefined, seed: number, snrDb = 15): CallerVoice {
  const loop = noise && backgroundNoise(noise, seed, RATE_HZ, TALK);
  return new CallerVoice({ sampleRateHz: RATE_HZ, seed, noise: loop, snrDb });
}

/** What a caller sends who pauses, says this at a turn, and pauses again. */
function sent(noise: NoiseKind, seed: number, turn = 0): Buffer {
  const caller = voice(noise, seed);
  return Buffer.concat([caller.pause(800), caller.say(WORDS, turn), caller.pause(800)].map(bytesOf));
}

const bytesOf = (samples: Int16Array) => Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);

describe.each(['street', 'office', 'babble'] as const)('The noise of a %s', (noise) => {
  test('has the same bytes for the same seed, whenever the words are said', () => {
    const early = voice(noise, 7);
    const late = voice(noise, 7);
    late.pause(12_345);

    expect(sent(noise, 7).equals(sent(noise, 7))).toBe(true);
    expect(bytesOf(late.say(WORDS, 3)).equals(bytesOf(early.say(WORDS, 3)))).toBe(true);
    expect(sent(noise, 8).equals(sent(noise, 7))).toBe(false);
    expect(sent(noise, 7, 1).equals(sent(noise, 7))).toBe(false);
  });

  test.each([0, 15, 30])('is %i dB below the words', (snrDb) => {
    const noiseRms = rootMeanSquare(voice(noise, 1, snrDb).pause(6 * RATE_HZ));
    const wordsRms = rootMeanSquare(voice(undefined, 1).say(WORDS, 0).subarray(800, 4000));

    expect(Math.abs(20 * Math.log10(wordsRms / noiseRms) - snrDb)).toBeLessThan(1);
  });
});

test('Words are sent without the silence around them, and as loud whatever their voice', () => {
  const caller = voice(undefined, 1);
  const quiet = WORDS.map((sample) => sample / 8);

  expect(caller.hasNoise).toBe(false);
  expect(caller.say(WORDS, 0).length / RATE_HZ).toBeCloseTo(0.62, 2);
  expect(rootMeanSquare(caller.say(quiet, 0))).toBeCloseTo(rootMeanSquare(caller.say(WORDS, 0)), -1);
  expect(caller.say(new Int16Array(RATE_HZ), 0)).toHaveLength(0);
});
