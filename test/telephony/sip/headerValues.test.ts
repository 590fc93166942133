import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseText } from '../../../sip/message/parse.ts';
import { startStopwatch } from '../../../src/base/async/stopwatch.ts';
import {
  addressesOf,
  encodeUser,
  numberOf,
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
  ['"" < sip:a@b >', 'sip:a@b', {}],
  ['Ann <3 <sip:a@b>', 'sip:a@b', {}],
  ['"Ann <sip:a@b>;tag=3', 'sip:a@b', { tag: '3' }],
  ['"Ann\\" <sip:a@b>;x="1"', 'sip:a@b', { x: '"1"' }],
  ['Ann "x" Lee <sip:a@b>', 'sip:a@b', {}],
  ['"Ann; Lee" sip:a@b;tag=4', 'sip:a@b', { tag: '4' }],
  ['<sip:a@b>;+sip.instance="<urn:uuid:1>"', 'sip:a@b', { '+sip.instance': '"<urn:uuid:1>"' }],
])('The address %s is read', (value, uri, params) => {
  const address = readAddress(value);
  expect({ uri: address?.uri, params: Object.fromEntries(address?.params ?? []) }).toEqual({ uri, params });
});

test.each(['', '*', 'nothing', '"x"'])('%j is no address', (value) => {
  expect(readAddress(value)).toBeUndefined();
});

test.each([
  ['"x <sip:a@b>, <sip:c@d>', ['sip:a@b', 'sip:c@d']],
  ['Lin, Ada <sip:a@b>, Lee, Bo, Co <sip:c@d>', ['sip:a@b', 'sip:c@d']],
  ['<sip:a@b>, <sip:a b@c>, <sip:e@f>', ['sip:a@b', 'sip:e@f']],
  ['sip:a@b;x=1, nonsense', ['sip:a@b']],
  ['*', []],
  ['<sip:a@b', []],
])('The addresses of %j are %j', (value, uris) => {
  expect(addressesOf(headersOf(`Contact: ${value}`), 'contact').map(({ uri }) => uri)).toEqual(uris);
});

test('A long malformed address is read in linear time', () => {
  const long = ['"\\"'.repeat(20_000), `<sip:${' '.repeat(60_000)}`, `${'a'.repeat(60_000)} <`];
  const work = startStopwatch();
  for (const value of long) addressesOf(headersOf(`Contact: ${value}`), 'contact');
  expect(work.elapsedMs()).toBeLessThan(500);
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

test.each([
  ['sip:+886-2-7700.1236;x=1@h', '+886277001236'],
  ['sip:%2B886277001236@h', '+886277001236'],
  ['tel:277001236;phone-context=+886', '+886277001236'],
  ['sip:0277001236;phone-context=%2B886@h;user=phone', '+886277001236'],
  ['sip:1236;phone-context=+88627700@h', '+886277001236'],
  ['tel:0277001236;phone-context=carrier.example', '+886277001236'],
  ['tel:+886277001236;phone-context=+1', '+886277001236'],
  ['sip:anonymous@anonymous.invalid', undefined],
  ['sip:@192.0.2.1', undefined],
])('The number of %s is %s', (uri, number) => {
  expect(numberOf(uri)).toBe(number);
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
