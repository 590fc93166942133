import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseText } from '../../../sip/message/parse.ts';
import {
  addressesOf,
  encodeUser,
  readAddress,
  readUri,
  tokensOf,
  userOf,
} from '../../../src/telephony/sip/headerValues.ts';

const headersOf = (...lines: readonly string[]) =>
  parseText(['OPTIONS sip:a@b SIP/2.0', ...lines].join('\r\n')).headers;

test.each([
  ['<sip:a@b>;tag=1', 'sip:a@b', { tag: '1' }],
  ['"A <x> B" <sip:a@b;lr>;q=0.5;Expires=60', 'sip:a@b;lr', { q: '0.5', expires: '60' }],
  ['Müller, Co <sips:a@b>', 'sips:a@b', {}],
  ['sip:a@b;tag=2', 'sip:a@b', { tag: '2' }],
  ['<tel:+8862;phone-context=x>', 'tel:+8862;phone-context=x', {}],
])('The address %s is read', (value, uri, params) => {
  const address = readAddress(value);
  expect({ uri: address?.uri, params: Object.fromEntries(address?.params ?? []) }).toEqual({ uri, params });
});

test.each(['', '*', 'nothing', '"x"'])('%j is no address', (value) => {
  expect(readAddress(value)).toBeUndefined();
});

test('A header with unbalanced quotes has no addresses, and one bad address spares the others', () => {
  const headers = headersOf('Contact: "x <sip:a@b>', 'Route: <sip:c@d>, nonsense, <sip:e@f>');
  expect(addressesOf(headers, 'contact')).toEqual([]);
  expect(addressesOf(headers, 'route').map(({ uri }) => uri)).toEqual(['sip:c@d', 'sip:e@f']);
});

test('Tokens are read from every line of a header', () => {
  expect(tokensOf(headersOf('Require: timer , 100rel', 'require: "'), 'require')).toEqual([
    'timer',
    '100rel',
    '"',
  ]);
});

test.each([
  ['sip:example.org', ''],
  ['SIPS:bob:pw@h.tld:5061;transport=tcp?a=b', 'bob'],
  ['sip:%2B886;phone-context=x@[2001:db8::1]:5070', '+886'],
  ['tel:+886-2-2345;isub=1', '+88622345'],
  ['mailto:a@b', ''],
])('The user of %s is %j', (uri, user) => {
  expect(userOf(uri)).toBe(user);
});

test.each(['mailto:a@b', 'sip:', 'sip:a@', 'sip:a b@c', 'http://x', 'sip:a@h:port'])(
  '%j is not a SIP or tel URI',
  (text) => {
    expect(readUri(text)).toBeUndefined();
  },
);

test('Any user survives encoding and reading', () => {
  fc.assert(
    fc.property(
      fc.string({ minLength: 1 }).filter((user) => !/[;:]/.test(user) && user.isWellFormed()),
      (user) => {
        expect(userOf(`sip:${encodeUser(user)}@h`)).toBe(user);
      },
    ),
  );
});
