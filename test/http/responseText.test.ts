import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';

import { responseText } from '../../src/http/response.ts';

const JSON_TEXT = '{"slot":"neun Uhr für 王"}';
const plain = Buffer.from(JSON_TEXT);

test.each([
  ['gzip', gzipSync(plain)],
  ['x-gzip', gzipSync(plain)],
  ['deflate', deflateSync(plain)],
  ['deflate', deflateRawSync(plain)],
  ['br', brotliCompressSync(plain)],
  ['identity', plain],
  ['gzip, BR', brotliCompressSync(gzipSync(plain))],
])('A body that is encoded as %s is read', (encoding, body) => {
  expect(responseText({ headers: { 'content-encoding': encoding }, body })).toBe(JSON_TEXT);
});

test.each([
  ['ISO-8859-1 by the header', 'text/plain; charset=ISO-8859-1', Buffer.from('f\xfcr', 'latin1'), 'für'],
  ['Big5 by the header', 'text/plain;charset="big5"', Buffer.from([0xa4, 0xfd]), '王'],
  ['UTF-16 by its mark', 'application/json', Buffer.from('\ufeff王', 'utf16le'), '王'],
  ['UTF-8 with a mark', 'application/json', Buffer.from('\ufeff{}'), '{}'],
  ['Latin text without a charset', 'text/plain', Buffer.from('f\xfcr', 'latin1'), 'für'],
  ['an unknown charset', 'text/plain; charset=none', Buffer.from('für'), 'für'],
  [
    'an XML declaration',
    'text/xml',
    Buffer.from('<?xml version="1.0" encoding="iso-8859-1"?><a>f\xfcr</a>', 'latin1'),
    '<?xml version="1.0" encoding="iso-8859-1"?><a>für</a>',
  ],
])('A body in %s is decoded', (_, contentType, body, text) => {
  expect(responseText({ headers: { 'content-type': contentType }, body })).toBe(text);
});

test.each([
  ['a body that grows beyond 1 MiB', 'gzip', gzipSync(Buffer.alloc(10_000_000)), 'response_too_large'],
  [
    'one that grows in its second layer',
    'br, gzip',
    gzipSync(brotliCompressSync(Buffer.alloc(10_000_000))),
    'response_too_large',
  ],
  [
    'a body in four layers',
    'gzip, gzip, gzip, gzip',
    gzipSync(gzipSync(gzipSync(gzipSync(plain)))),
    'response_encoded',
  ],
  ['an encoding that is unknown', 'zstd', plain, 'response_encoded'],
  ['a body that is not what it says', 'gzip', plain, 'response_encoded'],
])('%s is refused', (_, encoding, body, code) => {
  const read = () => responseText({ headers: { 'content-encoding': encoding }, body });
  expect(read).toThrow(expect.objectContaining({ code }));
});

test('A body that was cut is read as far as it goes', () => {
  const body = gzipSync(Buffer.from('words '.repeat(5_000) + JSON.stringify([...Array(500).keys()])));
  const text = responseText({ headers: { 'content-encoding': 'gzip' }, body: body.subarray(0, -200) });
  expect(text).toMatch(/^(?:words ){100}/);
});
