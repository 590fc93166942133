import { expect, it } from 'vitest';

import { table } from '../../src/cli/table.ts';

it('aligns columns by their widest cell and leaves no blanks at the end of a line', () => {
  expect(
    table([
      ['A', 'LONG', ''],
      ['wide', 'b', 'c'],
    ]),
  ).toBe('A     LONG\nwide  b     c\n');
});

it('is empty without rows', () => {
  expect(table([])).toBe('');
});
