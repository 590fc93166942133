import { beforeAll, describe, expect, test } from 'vitest';

import { atRate } from '../../../src/media/resample/resampler.ts';
import type { VoiceActivityDetection } from '../../../src/models/ports/voiceActivity.ts';
import { createWebrtcVad } from '../../../src/vendors/fvad/webrtc.ts';
import { createRnnoiseVad } from '../../../src/vendors/rnnoise/rnnoise.ts';
import { atLevel, lineNoise } from '../../support/lineNoise.ts';
import { synthesizeSpeech } from '../../support/synthesizedSpeech.ts';

const RATES = [8000, 16_000, 24_000] as const;

let first: VoiceActivityDetection;
let neural: VoiceActivityDetection;
let speech: Int16Array;

beforeAll(async () => {
  first = await createWebrtcVad();
  neural = await createRnnoiseVad(first);
  speech = await synthesizeSpeech('I would like a table for two tonight, please.', 8000);
});

/** What a detector says of each 20 ms. */
function verdicts(activity: VoiceActivityDetection, samples: Int16Array, sampleRateHz: number): boolean[] {
  const detector = activity.open(sampleRateHz);
  const length = sampleRateHz / 50;
  const heard = Array.from({ length: Math.floor(samples.length / length) }, (_, n) =>
    detector.isSpeech(samples.subarray(n * length, (n + 1) * length)),
  );
  detector.close();
  return heard;
}

const voiced = (heard: readonly boolean[]) => heard.filter(Boolean).length;

describe.each(RATES)('at %i Hz', (sampleRateHz) => {
  test.each([3000, 150])('speech at level %i is detected as by the first detector, and as early', (rms) => {
    const samples = atRate(atLevel(speech, rms), 8000, sampleRateHz);
    const byFirst = verdicts(first, samples, sampleRateHz);
    const byBoth = verdicts(neural, samples, sampleRateHz);
    expect(voiced(byBoth)).toBeGreaterThan(0.8 * voiced(byFirst));
    expect(byBoth.indexOf(true) - byFirst.indexOf(true)).toBeLessThanOrEqual(3);
  });

  test('passing cars are not speech, which the first detector takes for speech', () => {
    const street = atRate(lineNoise('street', { rms: 1000, samples: 8000 * 6, seed: 5 }), 8000, sampleRateHz);
    expect(voiced(verdicts(first, street, sampleRateHz))).toBeGreaterThan(10);
    expect(voiced(verdicts(neural, street, sampleRateHz))).toBe(0);
  });
});

test('The detector reports what the first one learns as noise; a frame of another length is not speech', () => {
  const detector = neural.open(8000);
  const noise = lineNoise('white', { rms: 1000, samples: 16_000, seed: 3 });
  let knownMs = 0;
  for (let n = 0; n + 160 <= noise.length; n += 160) {
    detector.isSpeech(noise.subarray(n, n + 160));
    knownMs += detector.reclassifiedNoiseMs?.() ?? 0;
  }
  expect(knownMs).toBeGreaterThan(300);
  expect(detector.isSpeech(new Int16Array(10))).toBe(false);
  detector.close();
  detector.close();
  expect(detector.isSpeech(new Int16Array(160))).toBe(false);
  expect(() => neural.open(44_100)).toThrow(RangeError);
});

test('A thousand streams in sequence take no more memory than a few', () => {
  // Of the process, in which other work may take memory in one of the rounds.
  const growths = Array.from({ length: 4 }, () => {
    const before = process.memoryUsage().external;
    for (let n = 0; n < 1000; n++) verdicts(neural, speech.subarray(0, 480), 8000);
    return process.memoryUsage().external - before;
  });
  expect(Math.min(...growths)).toBeLessThan(8 * 1_048_576);
});
