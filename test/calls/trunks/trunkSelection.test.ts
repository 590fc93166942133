import { describe, expect, test } from 'vitest';
import { type Trunk, trunkInput } from '../../../src/calls/trunks/trunk.ts';
import { candidateTrunks, reachableFirst } from '../../../src/calls/trunks/trunkSelection.ts';

const trunk = (id: string, priority = 0): Trunk => ({
  ...trunkInput.parse({ name: id, host: 'sip.example.com', priority }),
  id,
  projectId: 'p',
  createdAt: '',
  updatedAt: '',
});
const trunks = ['a', 'b', 'c', 'd'].map(trunk);
const ids = (some: readonly Trunk[]) => some.map(({ id }) => id);

test('Trunks without a failed health check keep their order', () => {
  expect(ids(reachableFirst(trunks, new Map()))).toEqual(['a', 'b', 'c', 'd']);
});

test('Trunks that were down at the last health check are tried last', () => {
  const health = new Map([
    ['a', { reachable: false, registered: null }],
    ['b', { reachable: true, registered: false }],
    ['c', { reachable: null, registered: null }],
  ]);
  expect(ids(reachableFirst(trunks, health))).toEqual(['c', 'd', 'a', 'b']);
});

describe('candidateTrunks', () => {
  const active = [trunk('low', 9), trunk('high', 1), trunk('same', 9)];

  test.each([
    ['are those of the number, in its order', ['same', 'low'], ['same', 'low']],
    ['are only active ones', ['gone', 'low'], ['low']],
    ['are all by priority when the number lists none', [], ['high', 'low', 'same']],
  ])('%s', (_what, trunkIds, expected) => {
    expect(ids(candidateTrunks({ trunkIds }, active))).toEqual(expected);
  });
});
