import { expect, test } from 'vitest';
import { parseText } from '../../../sip/message/parse.ts';
import { formatQ850, q850CauseOf, q850OfStatus } from '../../../src/telephony/sip/q850.ts';

test.each([
  [['Q.850;cause=17;text="busy"'], 17],
  [['SIP;cause=503;text="x", Q.850 ; text="y" ; cause = 34'], 34],
  [['SIP;cause=200', 'q.850;cause="21"'], 21],
  [['SIP;cause=16'], undefined],
  [['Q.850;cause=999'], undefined],
  [[], undefined],
])('The Q.850 cause of %j is %s', (headers, cause) => {
  const lines = headers.map((value) => `Reason: ${value}`);
  expect(q850CauseOf(parseText(['BYE sip:a@b SIP/2.0', ...lines].join('\r\n')))).toBe(cause);
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
])('Status %i maps to cause %i', (status, cause) => {
  expect(q850OfStatus(status)).toBe(cause);
});

test('The text of a Reason header cannot end its quotes or its line', () => {
  expect(formatQ850({ q850Cause: 16, text: 'a"b\r\nX: y\\' })).toBe('Q.850;cause=16;text="a\\"b X: y\\\\"');
});
