import { expect, it } from 'vitest';

import { table } from '../../src/cli/table.ts';

it('A table aligns columns by their widest cell, without trailing spaces', () => {
  expect(
    table([
      ['A', 'LONG', ''],
      ['wide', 'b', 'c'],
    ]),
  ).toBe('A     LONG\nwide  b     c\n');
});

it('A table without rows is empty', () => {
  expect(table([])).toBe('');
});
