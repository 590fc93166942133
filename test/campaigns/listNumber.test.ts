import { expect, test } from 'vitest';

import { listNumberReader } from '../../src/campaigns/listNumber.ts';

const TAIWAN = '+886223456789';
const US = '+13105550100';
const ITALY = '+390612345678';
const INDIA = '+912212345678';
const AUSTRALIA = '+61291234567';
const KOREA = '+821012345678';

test.each([
  // In six notations.
  ['+886912345678', TAIWAN, '+886912345678'],
  ['0912345678', TAIWAN, '+886912345678'],
  [' 0912-345 678 ', TAIWAN, '+886912345678'],
  ['00886912345678', TAIWAN, '+886912345678'],
  ['886912345678', TAIWAN, '+886912345678'],
  ['tel:+886-912-345-678', TAIWAN, '+886912345678'],
  ['912345678', TAIWAN, '+886912345678'],
  ['８８６９１２３４５６７８', TAIWAN, '+886912345678'],
  ['(310) 555-0123', US, '+13105550123'],
  ['310.555.0123', US, '+13105550123'],
  ['13105550123', US, '+13105550123'],
  ['011 44 20 7946 0018', US, '+442079460018'],
  ['+44 (0)20 7946 0018', US, '+442079460018'],
  ['06 1234 5678', ITALY, '+390612345678'],
  ['390612345678', ITALY, '+390612345678'],
  // With `00` and a separator, and with the country's own prefix for international calls where it begins with `00`.
  ['00 44 20 7946 0018', TAIWAN, '+442079460018'],
  ['002 44 20 7946 0018', TAIWAN, '+442079460018'],
  ['0011 44 20 7946 0018', AUSTRALIA, '+442079460018'],
  ['00700 44 20 7946 0018', KOREA, '+442079460018'],
  ['00 44 (0)20 7946 0018', US, '+442079460018'],
  // It has more digits than a number can have.
  ['001 44 20 7946 0018', '+622112345678', undefined],
  // `00` and +81 90 1234 5678, or Korea's `008` and +1 901 234 5678.
  ['00819012345678', KOREA, undefined],
  // An Indian mobile number that begins with India's calling code.
  ['9123456789', INDIA, '+919123456789'],
  ['919123456789', INDIA, '+919123456789'],
  ['+15005550006', undefined, '+15005550006'],
  ['+1 500 555-0006', undefined, '+15005550006'],
  // As exports write them.
  ["'+886912345678", TAIWAN, '+886912345678'],
  ['="0912345678"', TAIWAN, '+886912345678'],
  ['\u202a+1 310 555 0123\u202c', US, '+13105550123'],
  ['13105550123.00', US, '+13105550123'],
  ['3,105,550,123', US, '+13105550123'],
  ['+1 310 555 0123 ::: +1 310 555 0124', US, undefined],
  // Of another country than the campaign's.
  ['0912345678', US, undefined],
  ['3105550123', undefined, undefined],
  ['+1 310 555 0123 ext. 5', US, undefined],
  ['(310) 555-0123 x5', US, undefined],
  ['1.38E+10', '+8613900000000', undefined],
  ['12345', US, undefined],
  ['call Ada', US, undefined],
])('%j in a list that %s calls is %s', (text, from, number) => {
  expect(listNumberReader(from)(text)).toBe(number);
});
