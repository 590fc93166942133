import { expect, test } from 'vitest';
import {
  checkDigitTimeout,
  type DtmfEntryStep,
  enterDigit,
  INTER_DIGIT_TIMEOUT_MS,
} from '../../../src/conversation/turnDetection/dtmf.ts';

const enter = (digits: string, edgeDigits: readonly string[] = []) =>
  [...digits].reduce(
    (step: DtmfEntryStep, digit, index) => enterDigit(step.entry, digit, index * 100, edgeDigits),
    { entry: undefined },
  );

test.each([
  ['1', ['1', '2'], '1'],
  ['1', ['1', '12'], undefined],
  ['12', ['1', '12'], '12'],
  ['123#', [], '123'],
  ['#', [], '#'],
  ['#', ['#1'], undefined],
  ['*', ['1'], undefined],
  ['1'.repeat(32), [], '1'.repeat(32)],
])('Digits %s with edges for %j complete the entry %s', (digits, edgeDigits, complete) =>
  expect(enter(digits, edgeDigits).complete).toBe(complete),
);

test('An entry is complete after the inter-digit timeout', () => {
  const { entry } = enter('47');
  expect(checkDigitTimeout(entry, 100 + INTER_DIGIT_TIMEOUT_MS - 1)).toEqual({ entry });
  expect(checkDigitTimeout(entry, 100 + INTER_DIGIT_TIMEOUT_MS)).toEqual({
    entry: undefined,
    complete: '47',
  });
  expect(checkDigitTimeout(undefined, 99_999)).toEqual({ entry: undefined });
});
