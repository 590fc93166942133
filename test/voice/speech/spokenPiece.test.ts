import { expect, test } from 'vitest';

import { SpokenPiece } from '../../../src/voice/speech/spokenPiece.ts';

const { signal } = new AbortController();

test.each([
  ['nothing', 3999, [0]],
  ['nothing yet', 4000, [0]],
  ['its first sample, after the silence before it', 4001, [100.125]],
  ['a half', 4400, [150]],
  ['all but a sample', 4799, [199.875]],
  ['all of it', 4800, []],
  ['more', 9000, []],
])('A model that speaks itself is told once how far it was heard: %s', async (_what, position, expected) => {
  const told: number[] = [];
  const piece = new SpokenPiece(
    {
      provider: 'scripted',
      sampleRateHz: 8000,
      async *samples() {
        yield new Int16Array(1600);
      },
      truncate: (heardMs) => void told.push(heardMs),
    },
    8000,
  );
  piece.begin(4000);
  // The first 100 ms are silence that is not played.
  await piece.play(signal, async ({ length }) => piece.played(length, length - 800));
  for (const at of [position, 4001]) piece.truncate(at);
  expect(told).toEqual(expected);
});
