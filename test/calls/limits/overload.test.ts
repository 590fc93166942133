import { expect, test } from 'vitest';

import { nextLoad, ON_TIME, type PartLoad } from '../../../src/calls/limits/overload.ts';

const LIMIT_MS = 100;

/** `1` for each sample after which the part is late. */
function lateAfter(delaysMs: readonly number[]): string {
  let load: PartLoad = ON_TIME;
  return delaysMs
    .map((delayMs) => {
      load = nextLoad(load, delayMs, LIMIT_MS);
      return load.isLate ? '1' : '0';
    })
    .join('');
}

test.each([
  ['at the limit is on time', [100, 100, 100, 100], '0000'],
  ['is late after three samples in a row above it', [101, 101, 101, 101], '0011'],
  ['with single stalls is on time', [900, 900, 0, 900, 900, 0], '000000'],
  [
    'is on time again after five samples in a row at most half of it',
    [101, 101, 101, 50, 50, 50, 50, 50],
    '00111110',
  ],
  [
    'stays late while one of them is above',
    [101, 101, 101, 50, 50, 50, 50, 51, 50, 50, 50, 50, 50],
    '0011111111110',
  ],
  ['starts from the beginning afterwards', [101, 101, 101, 0, 0, 0, 0, 0, 101, 101, 101], '00111110001'],
])('A part that %s', (_, delaysMs, expected) => {
  expect(lateAfter(delaysMs)).toBe(expected);
});
