import { describe, expect, test } from 'vitest';

import { createBeepDetector, toneOf } from '../../../src/voice/answeringMachine/beepDetector.ts';

function tone(hz: number, durationMs: number, amplitude = 8000, sampleRateHz = 8000): Int16Array {
  return Int16Array.from({ length: (sampleRateHz * durationMs) / 1000 }, (_, n) =>
    Math.round(amplitude * Math.sin((2 * Math.PI * hz * n) / sampleRateHz)),
  );
}

function beepsIn(samples: Int16Array, sampleRateHz = 8000): number {
  const detector = createBeepDetector(sampleRateHz);
  const length = sampleRateHz / 50;
  let beeps = 0;
  for (let at = 0; at + length <= samples.length; at += length) {
    if (detector.push(samples.subarray(at, at + length))) beeps += 1;
  }
  return beeps;
}

const silence = new Int16Array(1600);
const joined = (...parts: Int16Array[]) => Int16Array.from(parts.flatMap((part) => [...part]));

describe('Beep detection', () => {
  test.each([440, 1000, 1004, 1375, 2000])('finds a beep of %i Hz', (hz) => {
    expect(beepsIn(joined(silence, tone(hz, 400), silence))).toBe(1);
  });

  test.each([
    ['a tone of 100 ms', joined(silence, tone(1000, 100), silence)],
    ['a dial tone', joined(silence, tone(440, 3000), silence)],
    ['a soft tone', joined(silence, tone(1000, 400, 200), silence)],
    [
      'two tones at once',
      joined(
        tone(941, 400).map((sample, n) => sample + (tone(1336, 400)[n] ?? 0)),
        silence,
      ),
    ],
    [
      'a glide',
      joined(
        Int16Array.from(
          { length: 3200 },
          (_, n) => 8000 * Math.sin((2 * Math.PI * (500 + n / 4) * n) / 8000),
        ),
        silence,
      ),
    ],
    ['silence', silence],
  ])('ignores %s', (_, samples) => expect(beepsIn(samples)).toBe(0));

  test.each([0, 1, 2, 3, 4, 5])(
    'measures a beep from its first frame, which comes after %i frames',
    (before) => {
      const beepsOf = (durationMs: number) =>
        beepsIn(joined(silence, new Int16Array(before * 160), tone(1000, durationMs), silence));
      expect([140, 160, 1500, 1520].map(beepsOf)).toEqual([0, 1, 1, 0]);
    },
  );

  test('finds a beep at 16 kHz', () => {
    expect(beepsIn(joined(silence, tone(1000, 300, 8000, 16_000), silence), 16_000)).toBe(1);
    expect(toneOf(tone(1000, 20, 8000, 16_000), 16_000)).toBe(1000);
  });
});
