import { expect, test } from 'vitest';

import { NodeCapacity } from '../../../src/calls/limits/nodeCapacity.ts';

test('NodeCapacity gives each call one slot, and no more slots than its limit', () => {
  const capacity = new NodeCapacity(2);
  expect(['a', 'b', 'b', 'c'].map((call) => capacity.acquire(call))).toEqual([true, true, true, false]);
  expect([capacity.inUse, capacity.limit]).toEqual([2, 2]);
  capacity.release('unknown');
  capacity.release('a');
  expect([capacity.acquire('c'), capacity.inUse]).toEqual([true, 2]);
});
