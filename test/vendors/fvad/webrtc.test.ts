import { beforeAll, describe, expect, test } from 'vitest';
import { atRate, type SampleRateHz } from '../../../src/media/resample/resampler.ts';
import type { VoiceActivityDetection } from '../../../src/models/ports/voiceActivity.ts';
import { createWebrtcVad } from '../../../src/vendors/fvad/webrtc.ts';
import { createLocalTextToSpeech } from '../../../src/vendors/local/textToSpeech.ts';
import { createRandom } from '../../media/support/signals.ts';
import { arrayFromAsync } from '../../support/arrayFromAsync.ts';

let activity: VoiceActivityDetection;
let speech: Int16Array;

beforeAll(async () => {
  activity = await createWebrtcVad();
  const flite = createLocalTextToSpeech({ threads: 1 });
  const chunks = await arrayFromAsync(
    flite.synthesize({ text: 'I would like a table for two tonight.' }, new AbortController().signal),
  );
  await flite.close();
  speech = Int16Array.from(chunks.flatMap((chunk) => [...chunk]));
});

const at = (sampleRateHz: SampleRateHz) => atRate(speech, 16_000, sampleRateHz);

function voicedShare(samples: Int16Array, sampleRateHz: number): number {
  const detector = activity.open(sampleRateHz);
  const length = sampleRateHz / 50;
  let voiced = 0;
  let frames = 0;
  for (let n = 0; n + length <= samples.length; n += length, frames++) {
    if (detector.isSpeech(samples.subarray(n, n + length))) voiced++;
  }
  detector.close();
  return voiced / frames;
}

describe.each([8000, 16_000, 24_000] as const)('at %i Hz', (sampleRateHz) => {
  test('speech is detected', () => expect(voicedShare(at(sampleRateHz), sampleRateHz)).toBeGreaterThan(0.6));

  test('silence and faint noise are not speech', () => {
    const noise = Int16Array.from({ length: sampleRateHz }, (_, n) => ((n * 7919) % 21) - 10);
    // As loud as comfort noise is, at -64 dB: it begins all at once.
    const random = createRandom(2);
    const comfort = Int16Array.from({ length: sampleRateHz }, () => Math.round((random() - 0.5) * 70));
    expect(voicedShare(comfort, sampleRateHz)).toBe(0);
    expect(voicedShare(new Int16Array(sampleRateHz), sampleRateHz)).toBe(0);
    expect(voicedShare(noise, sampleRateHz)).toBeLessThan(0.1);
  });
});

test.each([8000, 16_000, 24_000])(
  'A hiss at %i Hz is learned as noise within a short time',
  (sampleRateHz) => {
    const random = createRandom(1);
    const detector = activity.open(sampleRateHz);
    const verdicts = Array.from({ length: 100 }, (_, n) => {
      const frame = Int16Array.from({ length: sampleRateHz / 50 }, () =>
        Math.round((random() - 0.5) * (n < 50 ? 10 : 3000)),
      );
      return { isSpeech: detector.isSpeech(frame), noiseMs: detector.reclassifiedNoiseMs?.() ?? 0 };
    });
    detector.close();
    const knownAt = verdicts.findIndex(({ noiseMs }, n) => n >= 50 && noiseMs > 0);
    expect(verdicts.slice(50, 70).some(({ isSpeech }) => isSpeech)).toBe(true);
    expect(verdicts.slice(70).some(({ isSpeech }) => isSpeech)).toBe(false);
    expect(knownAt).toBeGreaterThan(60);
    expect(knownAt).toBeLessThan(76);
  },
);

test('An unsupported sample rate is rejected by name', () => {
  expect(() => activity.open(11_025)).toThrow(/11025/);
});

test('A frame of another length is not speech, and a closed detector detects none', () => {
  const detector = activity.open(8000);
  expect(detector.isSpeech(new Int16Array(161))).toBe(false);
  detector.close();
  detector.close();
  expect(detector.isSpeech(new Int16Array(160).fill(8000))).toBe(false);
});
