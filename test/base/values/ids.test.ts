import { expect, it, onTestFinished, vi } from 'vitest';

import { isUuid, uuidV7 } from '../../../src/base/values/ids.ts';

const timeOf = (id: string) => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);

it('uuidV7 contains the current time, the version and the variant', () => {
  const before = Date.now();
  const id = uuidV7();
  expect(timeOf(id)).toBeGreaterThanOrEqual(before);
  expect(timeOf(id)).toBeLessThanOrEqual(Date.now() + 1);
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

it.each([
  { title: 'stands still', stepMs: 0 },
  { title: 'advances', stepMs: 1 },
  { title: 'is set back', stepMs: -1000 },
])('uuidV7 ids are unique and sort in order of creation when the clock $title', ({ stepMs }) => {
  let ms = Date.now();
  const now = vi.spyOn(Date, 'now').mockImplementation(() => {
    ms += stepMs;
    return ms;
  });
  onTestFinished(() => now.mockRestore());
  const ids = Array.from({ length: 1000 }, uuidV7);

  expect(ids).toEqual([...ids].sort());
  expect(new Set(ids).size).toBe(1000);
});

it.each([
  ['01a1fc95-2719-735d-83a9-345a915fa800', true],
  ['01A1FC95-2719-735D-83A9-345A915FA800', true],
  ['01a1fc95-2719-735d-83a9-345a915fa80', false],
  ['01a1fc95-2719-735d-83a9-345a915fa800\n', false],
  ['01a1fc952719735d83a9345a915fa800', false],
])('isUuid(%j) is %s', (text, expected) => {
  expect(isUuid(text)).toBe(expected);
});
