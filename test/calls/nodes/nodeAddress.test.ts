import { expect, test } from 'vitest';
import { advertisedAddress, httpUrl, localAddress } from '../../../src/calls/nodes/nodeAddress.ts';

test.each([
  ['127.0.0.1', '127.0.0.1'],
  ['voice.internal', 'voice.internal'],
  ['0.0.0.0', '10.0.0.7'],
  ['::', 'fd00::7'],
])('A server that listens on %s is advertised at %s', (host, expected) => {
  const one = { netmask: '', mac: '', cidr: null, internal: false };
  const interfaces = {
    lo: [{ ...one, family: 'IPv4' as const, address: '127.0.0.1', internal: true }],
    eth0: [
      { ...one, family: 'IPv6' as const, address: 'fe80::1', scopeid: 2 },
      { ...one, family: 'IPv6' as const, address: 'fd00::7', scopeid: 0 },
      { ...one, family: 'IPv4' as const, address: '10.0.0.7' },
    ],
  };
  expect(advertisedAddress(host, interfaces)).toBe(expected);
});

test('A server on a machine without a network is advertised on loopback', () => {
  expect([advertisedAddress('0.0.0.0', {}), advertisedAddress('::', {})]).toEqual(['127.0.0.1', '::1']);
});

test.each([
  ['10.0.0.7', 'http://10.0.0.7:80'],
  ['0.0.0.0', 'http://127.0.0.1:80'],
  ['::', 'http://[::1]:80'],
])('A server that listens on %s is reached on its machine at %s', (host, expected) => {
  expect(httpUrl(localAddress(host), 80)).toBe(expected);
});
