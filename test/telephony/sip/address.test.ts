import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bracketed, encodeUser, readNameAddress, readUri } from '../../../src/telephony/sip/address.ts';

test.each([
  ['<sip:a@b>;tag=1', 'sip:a@b', { tag: '1' }],
  ['"A <x> B" <sip:a@b;lr>;q=0.5;Expires=60', 'sip:a@b;lr', { q: '0.5', expires: '60' }],
  ['Alice <sips:a@b>', 'sips:a@b', {}],
  ['sip:a@b;tag=2', 'sip:a@b', { tag: '2' }],
  ['<tel:+8862;phone-context=x>', 'tel:+8862;phone-context=x', {}],
])('%s', (value, uri, parameters) => {
  expect(readNameAddress(value)).toEqual({ uri, parameters });
});

test.each(['', '*', 'nothing', '"x"'])('%j is no address', (value) => {
  expect(readNameAddress(value)).toBeUndefined();
});

test.each([
  ['sip:example.org', { scheme: 'sip', user: '', host: 'example.org', port: undefined }],
  [
    'SIPS:bob:pw@h.tld:5061;transport=tcp?a=b',
    {
      scheme: 'sips',
      user: 'bob',
      host: 'h.tld',
      port: 5061,
      parameters: { transport: 'tcp' },
      headers: 'a=b',
    },
  ],
  ['sip:%2B886;phone-context=x@[2001:db8::1]:5070', { user: '+886', host: '2001:db8::1', port: 5070 }],
  ['tel:+886-2-2345;isub=1', { scheme: 'tel', user: '+88622345', host: '' }],
  ['sip:a%zz@h', { user: 'a%zz', host: 'h' }],
])('%s', (text, parts) => {
  expect(readUri(text)).toMatchObject(parts);
});

test.each(['mailto:a@b', 'sip:', 'sip:a@', 'sip:a b@c', 'http://x', 'sip:a@h:port'])(
  '%j is no SIP URI',
  (text) => {
    expect(readUri(text)).toBeUndefined();
  },
);

test('any user survives being written and read', () => {
  fc.assert(
    fc.property(
      fc.string({ minLength: 1 }).filter((user) => !/[;:]/.test(user) && user.isWellFormed()),
      (user) => {
        expect(readUri(`sip:${encodeUser(user)}@h`)?.user).toBe(user);
      },
    ),
  );
});

test('hosts of IPv6 are bracketed once', () => {
  expect(['::1', '[::1]', '10.0.0.1', 'h.tld'].map(bracketed)).toEqual([
    '[::1]',
    '[::1]',
    '10.0.0.1',
    'h.tld',
  ]);
});
