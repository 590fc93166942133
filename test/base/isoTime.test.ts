import fc from 'fast-check';
import { expect, it } from 'vitest';

import { createIsoTime } from '../../src/base/isoTime.ts';

/** The largest distance from 1970 that a Date can have, in milliseconds. */
const FARTHEST = 8.64e15;

it('writes every time as Date does, in whatever order they come', () => {
  const isoTime = createIsoTime();
  const steps = fc.array(
    fc.oneof(fc.integer({ min: -2000, max: 2000 }), fc.integer({ min: -(2 ** 40), max: 2 ** 40 })),
  );
  fc.assert(
    fc.property(fc.integer({ min: -1e14, max: 1e14 }), steps, (startMs, moves) => {
      let atMs = startMs;
      for (const move of [0, ...moves]) {
        atMs += move;
        expect(isoTime(atMs)).toBe(new Date(atMs).toISOString());
      }
    }),
  );
});

it.each([0, 999, 1000, -1, -1000, 1_700_000_000_123.9, 253_402_300_800_000, FARTHEST, -FARTHEST])(
  'writes %d',
  (atMs) => {
    expect(createIsoTime()(atMs)).toBe(new Date(atMs).toISOString());
  },
);

it('refuses what is no time, as Date does', () => {
  const isoTime = createIsoTime();
  for (const atMs of [Number.NaN, Number.POSITIVE_INFINITY, FARTHEST + 1000]) {
    expect(() => isoTime(atMs)).toThrow(RangeError);
  }
  expect(isoTime(5)).toBe('1970-01-01T00:00:00.005Z');
});
