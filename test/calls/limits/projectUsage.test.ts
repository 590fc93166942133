import { expect, test } from 'vitest';

import { callCostMillionths } from '../../../src/calls/limits/projectUsage.ts';

const RATES = [
  { prefix: '+886', perMinute: 0.04 },
  { prefix: '+', perMinute: 1 },
  { prefix: '+8869', perMinute: 0.1 },
  { prefix: '+1', perMinute: 0 },
];

test.each([
  ['the longest matching prefix', '+886912345678', 60_000, 100_000],
  ['a shorter prefix when the longer does not match', '+886223456789', 60_000, 40_000],
  ['the prefix + for all other numbers', '+442071234567', 30_000, 500_000],
  ['a rate of zero', '+14155550123', 60_000, 0],
  ['the number in a SIP URI', 'sip:+886912345678@carrier.example', 60_000, 100_000],
  ['the prefix + for an unreadable destination', 'sip:reception@pbx.example', 60_000, 1_000_000],
  ['parts of a minute, rounded to a millionth', '+886223456789', 1, 1],
])('Call cost uses %s', (_what, to, talkTimeMs, millionths) => {
  expect(callCostMillionths(RATES, to, talkTimeMs)).toBe(millionths);
});

test('Call cost is zero for a number without a matching prefix', () => {
  expect(callCostMillionths([{ prefix: '+886', perMinute: 1 }], '+14155550123', 60_000)).toBe(0);
  expect(callCostMillionths([], '+886912345678', 60_000)).toBe(0);
});
