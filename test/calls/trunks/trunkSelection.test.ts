import { expect, test } from 'vitest';

import { reachableFirst } from '../../../src/calls/trunks/routing.ts';
import { type Trunk, trunkInput } from '../../../src/calls/trunks/trunk.ts';

const trunk = (id: string): Trunk => ({
  ...trunkInput.parse({ name: id, host: 'sip.example.com' }),
  id,
  projectId: 'p',
  createdAt: '',
  updatedAt: '',
});
const trunks = ['a', 'b', 'c', 'd'].map(trunk);
const ids = (some: readonly Trunk[]) => some.map(({ id }) => id);

test('trunks that nobody has seen down keep their order', () => {
  expect(ids(reachableFirst(trunks, new Map()))).toEqual(['a', 'b', 'c', 'd']);
});

test('those that were seen to be down are tried last, and still tried', () => {
  const health = new Map([
    ['a', { reachable: false, registered: null }],
    ['b', { reachable: true, registered: false }],
    ['c', { reachable: null, registered: null }],
  ]);
  expect(ids(reachableFirst(trunks, health))).toEqual(['c', 'd', 'a', 'b']);
});
