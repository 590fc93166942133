import { expect, test } from 'vitest';

import {
  formatNetwork,
  isInNetwork,
  isWideNetwork,
  requireOwnNetworks,
} from '../../../src/calls/trunks/sourceNetwork.ts';

test.each([
  ['192.0.2.7', '192.0.2.0/24', true],
  ['192.0.3.7', '192.0.2.0/24', false],
  ['192.0.2.7', '192.0.2.7', true],
  ['192.0.2.8', '192.0.2.7', false],
  ['::ffff:192.0.2.7', '192.0.2.0/24', true],
  ['192.0.2.7', '::ffff:192.0.2.0/120', true],
  ['192.0.3.7', '::ffff:192.0.2.0/120', false],
  ['192.0.2.7', '::/0', false],
  ['2001:db8::1', '2001:db8::/32', true],
  ['2001:db9::1', '2001:db8::/32', false],
  ['2001:db8::1', '2001:db8::1', true],
  ['2001:db8::1', '0.0.0.0/0', false],
  ['pbx.example', '0.0.0.0/0', false],
])('%s is in %s: %s', (address, network, isIn) => {
  expect(isInNetwork(address, network)).toBe(isIn);
});

test.each([
  ['10.0.0.0/15', true],
  ['10.0.0.0/16', false],
  ['10.0.0.1', false],
  ['2001:db8::/31', true],
  ['2001:db8::/32', false],
  ['::ffff:10.0.0.0/111', true],
  ['::ffff:10.0.0.0/112', false],
])('%s is the operator’s to grant: %s', (network, isWide) => {
  expect(isWideNetwork(network)).toBe(isWide);
});

test.each([
  ['192.0.2.7', '192.0.2.7/32'],
  ['::ffff:192.0.2.0/120', '192.0.2.0/24'],
  ['2001:DB8::1', '2001:db8::1/128'],
])('%s is written as %s', (network, text) => {
  expect(formatNetwork(network)).toBe(text);
});

test.each([
  ['192.0.2.0/24', ['198.51.100.0/24'], undefined],
  ['192.0.2.0/24', ['2001:db8::/32'], undefined],
  ['192.0.2.0/24', ['192.0.2.7'], 'in use already'],
  ['192.0.2.7', ['198.51.100.0/24', '192.0.2.0/24'], 'in use already'],
  ['192.0.2.7', ['192.0.2.7/32'], 'in use already'],
  ['192.0.2.7', ['192.0.2.8/32'], undefined],
  ['192.0.0.0/8', [], 'wider than /16'],
])('A tenant adds %s where others have %j', (added, others, refusal) => {
  const add = () => requireOwnNetworks(['203.0.113.1', added], others);
  if (refusal === undefined) expect(add).not.toThrow();
  else
    expect(add).toThrow(
      expect.objectContaining({ code: 'cidr_needs_operator', message: expect.stringContaining(refusal) }),
    );
});
