import { expect, test } from 'vitest';
import { formatReason, q850OfStatus, readQ850 } from '../../../src/telephony/sip/q850.ts';

test.each([
  [['Q.850;cause=17;text="busy"'], 17],
  [['SIP;cause=503;text="x", Q.850 ; text="y" ; cause = 34'], 34],
  [['SIP;cause=200', 'q.850;cause="21"'], 21],
  [['SIP;cause=16'], undefined],
  [['Q.850;cause=999'], undefined],
  [[], undefined],
])('%j', (headers, cause) => {
  expect(readQ850(headers)).toBe(cause);
});

test.each([
  [404, 1],
  [486, 17],
  [480, 18],
  [484, 28],
  [503, 41],
  [504, 102],
  [603, 21],
  [499, 127],
])('status %i stands for cause %i', (status, cause) => {
  expect(q850OfStatus(status)).toBe(cause);
});

test('a text cannot end its quotes or its line', () => {
  expect(formatReason({ cause: 16, text: 'a"b\r\nX: y\\' })).toBe('Q.850;cause=16;text="abX: y"');
});
