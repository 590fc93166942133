import { expect, test } from 'vitest';

import { callCostMillionths } from '../../../src/calls/limits/callCost.ts';

const RATES = [
  { prefix: '+886', perMinute: 0.04 },
  { prefix: '+', perMinute: 1 },
  { prefix: '+8869', perMinute: 0.1 },
  { prefix: '+1', perMinute: 0 },
];

test.each([
  ['the longest prefix that fits', '+886912345678', 60_000, 100_000],
  ['a shorter one where the longer does not fit', '+886223456789', 60_000, 40_000],
  ['the rate of all numbers for the rest', '+442071234567', 30_000, 500_000],
  ['nothing where that is the rate', '+14155550123', 60_000, 0],
  ['the number of a SIP URI', 'sip:+886912345678@carrier.example', 60_000, 100_000],
  ['the rate of all for what cannot be read', 'sip:reception@pbx.example', 60_000, 1_000_000],
  ['parts of a minute, rounded to a millionth', '+886223456789', 1, 1],
])('a leg costs by %s', (_what, to, talkedMs, millionths) => {
  expect(callCostMillionths(RATES, to, talkedMs)).toBe(millionths);
});

test('a number that no prefix fits costs nothing', () => {
  expect(callCostMillionths([{ prefix: '+886', perMinute: 1 }], '+14155550123', 60_000)).toBe(0);
  expect(callCostMillionths([], '+886912345678', 60_000)).toBe(0);
});
