import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dialString, readDialString } from '../../src/telephony/dialString.ts';

const FORMATS = ['as_given', 'e164', 'e164_without_plus', 'national'] as const;

test.each([
  ['+886912345678', ['+886912345678', '+886912345678', '886912345678', '0912345678']],
  ['+886223456789', ['+886223456789', '+886223456789', '886223456789', '0223456789']],
  ['+14155550100', ['+14155550100', '+14155550100', '14155550100', '+14155550100']],
  ['1001', ['1001', '1001', '1001', '1001']],
])('%s is written as %j', (number, written) => {
  expect(FORMATS.map((format) => dialString(number, format))).toEqual(written);
});

test.each([
  ['+886912345678', 'e164', '+886912345678'],
  ['0912-345-678', 'e164', '+886912345678'],
  ['0223456789', 'national', '+886223456789'],
  ['886912345678', 'e164', '+886912345678'],
  ['14155550100', 'e164_without_plus', '+14155550100'],
  ['14155550100', 'e164', '14155550100'],
  ['0014155550100', 'national', '+14155550100'],
  ['anonymous', 'e164', 'anonymous'],
  ['1001', 'e164_without_plus', '1001'],
] as const)('%s of a trunk that writes %s is %s', (text, format, number) => {
  expect(readDialString(text, format)).toBe(number);
});

test('what is written to a trunk is read back as the same number', () => {
  const numbers = fc.oneof(
    fc.integer({ min: 200_000_000, max: 999_999_999 }).map((rest) => `+886${rest}`),
    fc.integer({ min: 2_000_000_000, max: 9_999_999_999 }).map((rest) => `+1${rest}`),
  );
  fc.assert(
    fc.property(numbers, fc.constantFrom(...FORMATS), (number, format) => {
      expect(readDialString(dialString(number, format), format)).toBe(number);
    }),
  );
});
