import { expect, test } from 'vitest';

import { routeOf } from '../../src/calls/routing.ts';
import { type Trunk, trunkInput } from '../../src/calls/trunk.ts';

const trunk = (id: string, fields: Partial<Trunk> = {}): Trunk => ({
  ...trunkInput.parse({ name: id, host: 'sip.example.com' }),
  id,
  projectId: 'p',
  createdAt: '',
  updatedAt: '',
  ...fields,
});
const ids = (trunks: readonly Trunk[]) => trunks.map(({ id }) => id);
const nothingSeen = new Map();

test('keeps the number’s own order', () => {
  const trunks = [trunk('a', { priority: 1 }), trunk('b', { priority: 2 }), trunk('c')];
  expect(ids(routeOf(['b', 'c', 'a'], trunks, nothingSeen))).toEqual(['b', 'c', 'a']);
});

test('goes by priority where the number names none', () => {
  const trunks = [trunk('a', { priority: 2 }), trunk('b', { priority: 1 })];
  expect(ids(routeOf([], trunks, nothingSeen))).toEqual(['b', 'a']);
});

test('leaves out what is not active or not there', () => {
  const trunks = [trunk('a', { status: 'inactive' }), trunk('b')];
  expect(ids(routeOf(['a', 'gone', 'b'], trunks, nothingSeen))).toEqual(['b']);
});

test('tries those that were seen to be down last, and still tries them', () => {
  const trunks = [trunk('a'), trunk('b'), trunk('c'), trunk('d')];
  const health = new Map([
    ['a', { reachable: false, registered: null }],
    ['b', { reachable: true, registered: false }],
    ['c', { reachable: null, registered: null }],
  ]);
  expect(ids(routeOf(['a', 'b', 'c', 'd'], trunks, health))).toEqual(['c', 'd', 'a', 'b']);
});
