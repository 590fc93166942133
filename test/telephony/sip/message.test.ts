import { expect, test } from 'vitest';
import { readSipText, splitValues } from '../../../src/telephony/sip/message.ts';

test('headers are found by name, by compact form, folded and repeated', () => {
  const message = readSipText(
    [
      'INVITE sip:a@b SIP/2.0',
      'i: call-1',
      'Subject: a',
      '  folded\tline',
      'Reason: one',
      'REASON : two',
      'r: <sip:x@y>',
      'no colon here',
      '',
      'v=0\r\n\r\nrest',
    ].join('\r\n'),
  );
  expect(message.startLine).toBe('INVITE sip:a@b SIP/2.0');
  expect(message.header('Call-ID')).toBe('call-1');
  expect(message.header('subject')).toBe('a folded\tline');
  expect(message.headers('reason')).toEqual(['one', 'two']);
  expect(message.header('Refer-To')).toBe('<sip:x@y>');
  expect(message.header('via')).toBeUndefined();
  expect(message.body).toBe('v=0\r\n\r\nrest');
});

test('a message without a body has an empty one', () => {
  expect(readSipText('SIP/2.0 200 OK\r\nCSeq: 1 BYE').body).toBe('');
});

test.each([
  ['a, b ,c', ['a', 'b', 'c']],
  ['"Doe, John" <sip:a@b;x=1,2>, <sip:c@d>', ['"Doe, John" <sip:a@b;x=1,2>', '<sip:c@d>']],
  ['"a\\", b", c', ['"a\\", b"', 'c']],
  ['', []],
])('%s is split at its separating commas', (value, parts) => {
  expect(splitValues(value)).toEqual(parts);
});
