import fc from 'fast-check';
import { expect, test } from 'vitest';

import { gramsOf, searchedGrams } from '../../../../src/infra/postgres/sessions/trigrams.ts';

/** Ends in 0x0010, which is 16. */
const PROJECT = '0197a000-0000-7000-8000-000000000010';
const PAIR = 2_097_152;
const digits = (gram: number) => `16${String(gram).padStart(13, '0')}`;

test.each([
  ['', []],
  ['a', ['160000000000097']],
  ['aa', [digits(97), digits(97 * PAIR + 97)]],
  ['aé', [digits(97), digits(0xe9), digits(97 * PAIR + 0xe9)]],
  ['😀a', [digits(0x1f600), digits(97), digits(0x1f600 * PAIR + 97)]],
])('a text %j has these grams', (text, grams) => {
  expect(gramsOf(PROJECT, text).sort()).toEqual([...grams].sort());
});

test.each([
  ['', []],
  ['a', [digits(97)]],
  ['ab', [digits(97 * PAIR + 98)]],
  ['abab', [digits(97 * PAIR + 98), digits(98 * PAIR + 97)]],
  ['😀', [digits(0x1f600)]],
])('a search for %j asks for these', (text, grams) => {
  expect(searchedGrams(PROJECT, text)).toEqual(grams);
});

test('the highest gram of the highest project is a bigint still', () => {
  const [gram] = searchedGrams('ffffffff-ffff-7fff-bfff-ffffffffffff', '\u{10ffff}\u{10ffff}');
  expect(BigInt(gram ?? 0)).toBeLessThan(2n ** 63n);
});

test('what is searched in one project is no gram of another', () => {
  const other = '0197a000-0000-7000-8000-000000000011';
  expect(gramsOf(other, 'ab')).not.toContain(searchedGrams(PROJECT, 'ab')[0]);
});

const letters = fc.string({
  unit: fc.constantFrom('a', 'b', '"', '\\', 'é', '點', '😀', '\u007f', '\u0080'),
});

test('a text has the grams of a string of one or two characters exactly where it holds it', () => {
  fc.assert(
    fc.property(letters, letters, (text, other) => {
      const searched = Array.from(other).slice(0, 2).join('');
      const grams = new Set(gramsOf(PROJECT, text));
      expect(searchedGrams(PROJECT, searched).every((gram) => grams.has(gram))).toBe(text.includes(searched));
    }),
  );
});

test('a text has the grams of every string that it holds', () => {
  fc.assert(
    fc.property(letters, letters, letters, (before, searched, after) => {
      const grams = new Set(gramsOf(PROJECT, before + searched + after));
      expect(searchedGrams(PROJECT, searched).filter((gram) => !grams.has(gram))).toEqual([]);
    }),
  );
});
