import fc from 'fast-check';
import { expect, test } from 'vitest';

import { ngramsOf, searchedNgrams } from '../../../../src/infra/postgres/sessions/ngrams.ts';

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
])('The terms of the text %j', async (text, grams) => {
  expect((await ngramsOf(PROJECT, text)).sort()).toEqual([...grams].sort());
});

test.each([
  ['', []],
  ['a', [digits(97)]],
  ['ab', [digits(97 * PAIR + 98)]],
  ['abab', [digits(97 * PAIR + 98), digits(98 * PAIR + 97)]],
  ['😀', [digits(0x1f600)]],
])('A search for %j uses these terms', (text, grams) => {
  expect(searchedNgrams(PROJECT, text)).toEqual(grams);
});

test('The largest term of the largest project fits a bigint', () => {
  const [gram] = searchedNgrams('ffffffff-ffff-7fff-bfff-ffffffffffff', '\u{10ffff}\u{10ffff}');
  expect(BigInt(gram ?? 0)).toBeLessThan(2n ** 63n);
});

test('The event loop runs other tasks while a long text is indexed', async () => {
  let rounds = 0;
  const timer = setInterval(() => {
    rounds += 1;
  });
  await ngramsOf(PROJECT, 'ab'.repeat(400_000));
  clearInterval(timer);
  expect(rounds).toBeGreaterThan(2);
});

test('A term of one project is no term of another', async () => {
  const other = '0197a000-0000-7000-8000-000000000011';
  expect(await ngramsOf(other, 'ab')).not.toContain(searchedNgrams(PROJECT, 'ab')[0]);
});

const letters = fc.string({
  unit: fc.constantFrom('a', 'b', '"', '\\', 'é', '點', '😀', '\u007f', '\u0080'),
});

test('A text has all terms of a string of one or two characters exactly when it contains the string', async () => {
  await fc.assert(
    fc.asyncProperty(letters, letters, async (text, other) => {
      const searched = Array.from(other).slice(0, 2).join('');
      const grams = new Set(await ngramsOf(PROJECT, text));
      expect(searchedNgrams(PROJECT, searched).every((gram) => grams.has(gram))).toBe(
        text.includes(searched),
      );
    }),
  );
});

test('A text has all terms of every string that it contains', async () => {
  await fc.assert(
    fc.asyncProperty(letters, letters, letters, async (before, searched, after) => {
      const grams = new Set(await ngramsOf(PROJECT, before + searched + after));
      expect(searchedNgrams(PROJECT, searched).filter((gram) => !grams.has(gram))).toEqual([]);
    }),
  );
});
