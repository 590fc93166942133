import { expect, test } from 'vitest';

import { memoize } from '../../../src/base/values/memoize.ts';

test('A value is made once for each key', () => {
  const made = memoize(({ name }: { name: string }) => ({ of: name }));
  const [first, second] = [{ name: 'first' }, { name: 'second' }];
  expect(made(first)).toBe(made(first));
  expect([made(first), made(second)]).toEqual([{ of: 'first' }, { of: 'second' }]);
});
