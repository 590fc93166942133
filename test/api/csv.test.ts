import { expect, test } from 'vitest';

import { csvLine } from '../../src/api/csv.ts';

test.each([
  [['a', 1, -2.5, null, undefined, true], 'a,1,-2.5,,,true'],
  [['a,b', 'say "hi"', 'two\nlines'], '"a,b","say ""hi""","two\nlines"'],
  [['=1+1', '+1+cmd', '-2+3'], `"'=1+1","'+1+cmd","'-2+3"`],
  [['+886912345678', '-1', '-2.50', -3, '007'], '+886912345678,-1,-2.50,-3,007'],
  [['+', '+886\n=1', '@SUM(A1)'], `"'+","'+886\n=1","'@SUM(A1)"`],
  [['\t=1', '\r=1', '\n=1'], `"'\t=1","'\r=1","'\n=1"`],
  [['a=1', 'a@b'], 'a=1,a@b'],
])('The CSV line of %j', (cells, line) => expect(csvLine(cells)).toBe(`${line}\r\n`));
