import { expect, test } from 'vitest';
import {
  contactUri,
  dialledUri,
  identityUri,
  routeOf,
  sourcesOf,
  trunkUri,
} from '../../../src/telephony/trunks/addressing.ts';
import { trunkOf } from '../../support/telephonyRig.ts';

test.each([
  [{ host: 'h.tld' }, 'sip:+886@h.tld'],
  [{ host: 'h.tld', port: 5070 }, 'sip:+886@h.tld:5070'],
  [{ host: 'h.tld', transport: 'tls' }, 'sip:+886@h.tld;transport=tls'],
  [{ host: '2001:db8::1', transport: 'tcp', port: 5061 }, 'sip:+886@[2001:db8::1]:5061;transport=tcp'],
] as const)('The URI of %j is %s', (changes, uri) => {
  expect(trunkUri(trunkOf(changes), '+886')).toBe(uri);
});

test.each([
  ['as_given', 'sip:0912345678@h.tld'],
  ['e164', 'sip:+886912345678@h.tld'],
  ['e164_without_plus', 'sip:886912345678@h.tld'],
] as const)('A number in local form is dialed %s as %s', (numberFormat, uri) => {
  const trunk = trunkOf({ host: 'h.tld', numberFormat });
  expect(dialledUri(trunk, '+886912345678', '+886223456789', '0912345678')).toBe(uri);
});

test.each([
  [null, undefined],
  ['proxy.tld', 'sip:proxy.tld;transport=tcp'],
  ['proxy.tld:5070', 'sip:proxy.tld:5070;transport=tcp'],
  ['2001:db8::1', 'sip:[2001:db8::1];transport=tcp'],
  ['[2001:db8::1]:5070', 'sip:[2001:db8::1]:5070;transport=tcp'],
  ['<sip:proxy.tld;lr>', 'sip:proxy.tld;lr'],
])('The outbound proxy %s gives the route %s', (outboundProxy, route) => {
  expect(routeOf(trunkOf({ host: 'h', transport: 'tcp', outboundProxy }))).toBe(route);
});

test('Our identity and Contact', () => {
  const trunk = trunkOf({
    host: 'h.tld',
    fromDomain: 'our.example',
    transport: 'tls',
    outboundProxy: 'p.tld',
  });
  expect(identityUri(trunk, 'a b')).toBe('sip:a%20b@our.example');
  expect(contactUri(trunk, 'u')).toBe('sip:u@localhost;transport=tls');
  expect(sourcesOf(trunk)).toEqual([
    { host: 'h.tld', port: trunk.port },
    { host: 'p.tld', port: 5060 },
  ]);
});
