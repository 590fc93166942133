import { expect, test } from 'vitest';

import { callCapacity, NodeCapacity } from '../../../src/calls/limits/nodeCapacity.ts';

test('NodeCapacity gives each call one slot, and no more slots than its limit', () => {
  const capacity = new NodeCapacity(2);
  expect(['a', 'b', 'b', 'c'].map((call) => capacity.acquire(call))).toEqual([true, true, true, false]);
  expect([capacity.inUse, capacity.limit]).toEqual([2, 2]);
  capacity.release('unknown');
  capacity.release('a');
  expect([capacity.acquire('c'), capacity.inUse]).toEqual([true, 2]);
});

test('A node takes 200 calls per media thread, as far as each has two ports', () => {
  expect([callCapacity(2, 1_000), callCapacity(2, 799), callCapacity(2, 9)]).toEqual([400, 399, 4]);
});
