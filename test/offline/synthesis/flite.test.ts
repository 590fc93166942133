import { expect, test } from 'vitest';
import { splitText } from '../../../offline/synthesis/flite.ts';

test.each([
  ['', []],
  ['…!', []],
  ['One. Two.', ['One. Two.']],
  [`${'word '.repeat(40).trim()}. Next.`, [`${'word '.repeat(40).trim()}. Next.`]],
  [`${'word '.repeat(60).trim()}. Next.`, [`${'word '.repeat(60).trim()}.`, 'Next.']],
])('splitText(%j) is %j', (text, parts) => {
  expect(splitText(text)).toEqual(parts);
});
