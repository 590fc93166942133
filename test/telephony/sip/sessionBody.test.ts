import { expect, test } from 'vitest';
import { parseText } from '../../../sip/message/parse.ts';
import { sessionBody } from '../../../src/telephony/sip/sessionBody.ts';

const SDP = 'v=0\r\no=- 1 1 IN IP4 192.0.2.1\r\n';
const description = { kind: 'description', sdp: SDP };
/** As from switches that add their ISUP, which is binary. */
const MIXED = [
  'an ignored preamble',
  '--unique-1',
  'Content-Type: application/ISUP;version=itu-t92+',
  'Content-Disposition: signal;handling=optional',
  '',
  '\u0001\u0000--unique\u0010',
  '--unique-1',
  'content-type: application/sdp',
  '',
  `${SDP}--unique-1--`,
].join('\r\n');

test.each([
  ['nothing', [], '', { kind: 'none' }],
  ['blanks', ['Content-Type: application/sdp'], '\r\n', { kind: 'none' }],
  ['a description', ['Content-Type: application/sdp'], SDP, description],
  ['a compact header, parameters and odd case', ['c: Application/SDP;charset=utf-8'], SDP, description],
  ['a description without type', [], SDP, description],
  ['another type', ['Content-Type: text/plain'], SDP, { kind: 'unreadable' }],
  ['a type that only begins alike', ['Content-Type: application/sdp-x'], SDP, { kind: 'unreadable' }],
  ['a packed body', ['Content-Type: application/sdp', 'Content-Encoding: gzip'], SDP, { kind: 'unreadable' }],
  [
    'another type that may be passed over',
    ['Content-Type: application/isup', 'Content-Disposition: signal;handling=optional'],
    'x',
    { kind: 'none' },
  ],
  ['parts', ['Content-Type: multipart/mixed;boundary=unique-1'], MIXED, description],
  ['parts, quoted', ['Content-Type: multipart/mixed; boundary="unique-1"'], MIXED, description],
  ['parts without a description', ['Content-Type: multipart/mixed;boundary=other'], MIXED, { kind: 'none' }],
  ['parts without a boundary', ['Content-Type: multipart/mixed;x=y'], MIXED, { kind: 'unreadable' }],
])('of %s', (_case, headers, body, expected) => {
  expect(sessionBody(parseText(['INVITE sip:a SIP/2.0', ...headers, '', body].join('\r\n')))).toEqual(
    expected,
  );
});
