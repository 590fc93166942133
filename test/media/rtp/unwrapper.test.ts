import { describe, expect, it } from 'vitest';
import { createSequenceUnwrapper, createTimestampUnwrapper } from '../../../src/media/rtp/unwrapper.ts';

describe('sequence unwrapper', () => {
  it.each([
    { name: 'in order', given: [5, 6, 7], expected: [5, 6, 7] },
    { name: 'over the wrap', given: [65534, 65535, 0, 1], expected: [65534, 65535, 65536, 65537] },
    { name: 'back over the wrap', given: [65535, 0, 65534, 1], expected: [65535, 65536, 65534, 65537] },
    { name: 'below the first', given: [1, 65535, 2], expected: [1, -1, 2] },
    { name: 'the last step forward', given: [0, 32767], expected: [0, 32767] },
    { name: 'the first step that is backwards', given: [0, 32768], expected: [0, -32768] },
    {
      name: 'twice around',
      given: [0, 30000, 60000, 24464, 54464, 18928],
      expected: [0, 30000, 60000, 90000, 120000, 150000],
    },
  ])('$name', ({ given, expected }) => {
    const unwrapper = createSequenceUnwrapper();
    expect(given.map((value) => unwrapper.unwrap(value))).toEqual(expected);
  });

  it('starts over after a reset', () => {
    const unwrapper = createSequenceUnwrapper();
    unwrapper.unwrap(65535);
    unwrapper.unwrap(0);
    unwrapper.reset();
    expect(unwrapper.unwrap(9)).toBe(9);
  });

  it.each([-1, 65536, 1.5, Number.NaN])('refuses %d', (value) => {
    expect(() => createSequenceUnwrapper().unwrap(value)).toThrow(RangeError);
  });
});

it('Timestamp unwrapper extends beyond 2^32', () => {
  const unwrapper = createTimestampUnwrapper();
  expect([0xffffff60, 0, 160].map((value) => unwrapper.unwrap(value))).toEqual([
    0xffffff60,
    2 ** 32,
    2 ** 32 + 160,
  ]);
  expect(() => unwrapper.unwrap(2 ** 32)).toThrow(RangeError);
});
