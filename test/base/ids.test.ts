import { describe, expect, it } from 'vitest';

import { createUuidV7, isUuid, uuidV7 } from '../../src/base/ids.ts';

const timeOf = (id: string) => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);

describe('createUuidV7', () => {
  it('writes the time, the version and the variant', () => {
    const id = createUuidV7(() => 0x0123456789ab)();

    expect(id).toMatch(/^01234567-89ab-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(isUuid(id)).toBe(true);
  });

  it.each([
    { title: 'stands still', next: (ms: number) => ms },
    { title: 'goes on', next: (ms: number) => ms + 1 },
    { title: 'is set back', next: (ms: number) => ms - 1000 },
  ])('sorts each after the one before when the clock $title', ({ next }) => {
    let ms = 1_800_000_000_000;
    const makeId = createUuidV7(() => {
      ms = next(ms);
      return ms;
    });
    // More than the random bytes of one filling serve for.
    const ids = Array.from({ length: 1000 }, makeId);

    expect(ids).toEqual([...ids].sort());
    expect(new Set(ids).size).toBe(1000);
  });

  it('takes random bits of its own for each', () => {
    const makeId = createUuidV7(() => 1_800_000_000_000);
    const tails = Array.from({ length: 1000 }, () => makeId().slice(-12));
    expect(new Set(tails).size).toBe(1000);
  });
});

it('uuidV7 carries the present time', () => {
  const before = Date.now();
  const time = timeOf(uuidV7());
  expect(time).toBeGreaterThanOrEqual(before);
  expect(time).toBeLessThanOrEqual(Date.now() + 1);
});

it.each([
  ['01a1fc95-2719-735d-83a9-345a915fa800', true],
  ['01A1FC95-2719-735D-83A9-345A915FA800', true],
  ['01a1fc95-2719-735d-83a9-345a915fa80', false],
  ['01a1fc95-2719-735d-83a9-345a915fa800\n', false],
  ['01a1fc952719735d83a9345a915fa800', false],
])('isUuid(%j) is %s', (text, is) => {
  expect(isUuid(text)).toBe(is);
});
