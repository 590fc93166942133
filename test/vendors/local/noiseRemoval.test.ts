import { expect, test } from 'vitest';
import type { NoiseSuppression } from '../../../src/models/ports/noiseSuppression.ts';
import { NoiseRemoval } from '../../../src/vendors/local/noiseRemoval.ts';

/** Two samples a millisecond and a suppressor that halves them. */
const RATE_HZ = 2000;
const FRAME = 40;

function halving() {
  const state = { isClosed: false };
  const suppression: NoiseSuppression = {
    open: async () => ({
      process: (frame) => frame.map((sample) => sample / 2),
      close: () => {
        state.isClosed = true;
      },
    }),
  };
  return { suppression, state };
}

function removalBy(suppression: NoiseSuppression) {
  const cleaned: number[] = [];
  const removal = new NoiseRemoval(suppression, RATE_HZ, (frame) => cleaned.push(...frame));
  return { cleaned, removal };
}

test('Noise is removed from pieces of any length, also of those before the suppressor was there', async () => {
  const { cleaned, removal } = removalBy(halving().suppression);
  removal.push(new Int16Array(FRAME + 10).fill(2));
  expect(cleaned).toEqual([]);
  await removal.settled;
  expect(cleaned).toEqual(new Array(FRAME).fill(1));
  removal.push(new Int16Array(FRAME - 10).fill(4));
  expect(cleaned.slice(FRAME)).toEqual([...new Array(10).fill(1), ...new Array(FRAME - 10).fill(2)]);
});

test('Without a suppressor the audio is recognized as it is', async () => {
  const { cleaned, removal } = removalBy({ open: () => Promise.reject(new Error('not loaded')) });
  removal.push(new Int16Array(FRAME).fill(2));
  await removal.settled;
  expect(cleaned).toEqual(new Array(FRAME).fill(2));
});

test.each(['before', 'after'])(
  'A suppressor is closed with its utterance, closed %s it was there',
  async (when) => {
    const { suppression, state } = halving();
    const { cleaned, removal } = removalBy(suppression);
    removal.push(new Int16Array(FRAME).fill(2));
    if (when === 'after') await removal.settled;
    removal.close();
    await removal.settled;
    expect(state.isClosed).toBe(true);
    expect(cleaned).toHaveLength(when === 'after' ? FRAME : 0);
  },
);
