import { expect, test } from 'vitest';

import { createSpeechEnd } from '../../../src/voice/recognition/speechEnd.ts';
import { createRandom, tone } from '../../media/support/signals.ts';

const FRAME = 160;
const loud = tone(8000, 300, FRAME);
const random = createRandom(5);
const hiss = Int16Array.from({ length: FRAME }, () => Math.round(500 * (2 * random() - 1)));
const silence = new Int16Array(FRAME);
/** Voice that ends in the middle of the frame. */
const half = loud.map((sample, at) => (at < FRAME / 2 ? sample : (hiss[at] ?? 0)));

test.each([
  ['voice to the end of its frame', [loud, loud], 40],
  ['voice that ends in a frame', [loud, half], 30],
  ['hiss that the detector takes for voice', [loud, half, hiss, hiss], 30],
  ['silence that the detector takes for voice', [loud, half, silence], 30],
  ['a soft voice', [hiss], 20],
  ['a voice that dies away', [loud, loud.map((sample) => sample / 8)], 40],
])('Speech end after %s', (_, frames, expected) => {
  const end = createSpeechEnd(8000);
  for (const [index, frame] of frames.entries()) end.push(frame, (index + 1) * 20);
  expect(end.atMs).toBeGreaterThan(expected - 2.5);
  expect(end.atMs).toBeLessThanOrEqual(expected);
});

test('Speech end starts over after a reset: the next utterance may be softer', () => {
  const end = createSpeechEnd(8000);
  expect(end.atMs).toBeUndefined();
  end.push(loud, 20);
  end.reset();
  expect(end.atMs).toBeUndefined();
  end.push(hiss, 60);
  expect(end.atMs).toBeGreaterThan(57);
});
