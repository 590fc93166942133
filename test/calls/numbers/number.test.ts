import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { normalizeNumber, parseCarrierNumber } from '../../../src/base/values/e164.ts';
import { formatNumber, maskNumber, requireNumber } from '../../../src/calls/numbers/number.ts';
import { isClaimVerified, type NumberOwnership } from '../../../src/calls/numbers/numberClaim.ts';

const TAIPEI = '+886223456789';

describe('normalizeNumber', () => {
  test.each([
    ['+886912345678', '+886912345678'],
    ['0912345678', '+886912345678'],
    ['0223456789', TAIPEI],
    ['037123456', '+88637123456'],
    ['0800123456', '+886800123456'],
    ['+14155550123', '+14155550123'],
    ['+390612345678', '+390612345678'],
    ['+80012345678', '+80012345678'],
  ])('normalizes %s to %s', (text, number) => {
    expect(normalizeNumber(text)).toBe(number);
  });

  test.each([
    ['an empty string', ''],
    ['a missing plus sign', '886912345678'],
    ['blanks', '+886 912 345 678'],
    ['dashes', '0912-345-678'],
    ['an international prefix', '00886912345678'],
    ['the trunk prefix within E.164', '+8860912345678'],
    ['a short number', '+88691'],
    ['a long number', '+8869123456789012'],
    ['a local number of another country', '4155550123'],
    ['a short code', '0110'],
    ['an extension', '1001'],
    ['an unassigned country code', '+999123456789'],
    ['letters', '+886abc345678'],
    ['full-width digits', '０９１２３４５６７８'],
    ['a trailing line break', '0912345678\n'],
    ['a SIP URI', 'sip:0912345678@example.com'],
  ])('rejects %s: %j', (_what, text) => {
    expect(normalizeNumber(text)).toBeUndefined();
  });

  test('is the same for both spellings of any Taiwan mobile number', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 99_999_999 }), (rest) => {
        const digits = `9${String(rest).padStart(8, '0')}`;
        const number = normalizeNumber(`0${digits}`);
        expect(number).toBe(`+886${digits}`);
        expect(normalizeNumber(`+886${digits}`)).toBe(number);
      }),
    );
  });

  test('returns stable E.164 for any text that it accepts', () => {
    const numberLike = fc.stringMatching(/^[+0]?[0-9]{1,16}$/);
    fc.assert(
      fc.property(fc.oneof(numberLike, fc.string()), (text) => {
        const number = normalizeNumber(text);
        if (number === undefined) return;
        expect(number).toMatch(/^\+[1-9]\d{6,14}$/);
        expect(normalizeNumber(number)).toBe(number);
      }),
    );
  });

  test('requireNumber names the field and its path', () => {
    expect(requireNumber('0912345678', 'toNumber')).toBe('+886912345678');
    expect(() => requireNumber('12', 'toNumber')).toThrow(
      expect.objectContaining({
        category: 'invalid',
        code: 'invalid_number',
        message: expect.stringMatching(/^toNumber must be .*\+886912345678/),
        details: [{ path: '/toNumber', message: expect.any(String) }],
      }),
    );
  });
});

describe('parseCarrierNumber', () => {
  test.each([
    ['+886912345678', '+886912345678'],
    ['886912345678', '+886912345678'],
    ['00886912345678', '+886912345678'],
    ['(02) 2345-6789', TAIPEI],
    ['+1 415.555.0123', '+14155550123'],
    ['1001', undefined],
    ['anonymous', undefined],
    ['', undefined],
  ])('reads %j as %s', (text, number) => {
    expect(parseCarrierNumber(text)).toBe(number);
  });
});

describe('formatNumber', () => {
  test.each([
    ['as_given', '+886912345678', '0912345678', '0912345678'],
    ['as_given', '+886912345678', undefined, '+886912345678'],
    ['e164', '+886912345678', '0912345678', '+886912345678'],
    ['e164_without_plus', '+886912345678', undefined, '886912345678'],
    ['national', '+886912345678', undefined, '0912345678'],
    ['national', TAIPEI, undefined, '0223456789'],
    ['national', '+14155550123', undefined, '+14155550123'],
    ['national', 'anonymous', undefined, 'anonymous'],
  ] as const)('with the format %s writes %s (given as %s) as %s', (format, number, asGiven, written) => {
    expect(formatNumber(number, { format, callingNumber: TAIPEI, asGiven })).toBe(written);
  });

  test('writes national numbers within the calling number’s country only', () => {
    const calling = { format: 'national', callingNumber: '+14155550100' } as const;
    expect(formatNumber('+14155550123', calling)).toBe('4155550123');
    expect(formatNumber('+886912345678', calling)).toBe('+886912345678');
  });
});

test.each([
  ['+886912345678', '+886*******78'],
  ['1001', '1001'],
  ['anonymous', 'anon***us'],
])('maskNumber masks %s as %s', (number, masked) => {
  expect(maskNumber(number)).toBe(masked);
});

test.each<[NumberOwnership, number, boolean]>([
  ['open', 2, true],
  ['verified', 1, false],
  [undefined, 1, true],
  [undefined, 2, false],
])('A claim with the setting %s counts at once among %i projects: %j', (ownership, projectCount, counts) => {
  expect(isClaimVerified(ownership, projectCount)).toBe(counts);
});
