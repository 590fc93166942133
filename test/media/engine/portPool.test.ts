import { describe, expect, it } from 'vitest';
import { PortPool } from '../../../src/media/engine/portPool.ts';

describe('PortPool', () => {
  it.each([
    [{ min: 30_000, max: 30_005 }, 3, 30_000],
    [{ min: 30_001, max: 30_006 }, 2, 30_002],
    [{ min: 30_000, max: 30_000 }, 0, undefined],
  ])('has the whole pairs within %o, starting at even ports', (range, size, first) => {
    const pool = new PortPool(range);
    expect(pool.size).toBe(size);
    expect(pool.take()).toBe(first);
  });

  it('takes the pair that was free for the longest, until none is left', () => {
    const pool = new PortPool({ min: 10, max: 15 });
    expect([pool.take(), pool.take()]).toEqual([10, 12]);
    pool.free(10);
    pool.free(10);
    expect([pool.take(), pool.take(), pool.take()]).toEqual([14, 10, undefined]);
    pool.free(12);
    pool.free(14);
    expect([pool.take(), pool.take(), pool.take()]).toEqual([12, 14, undefined]);
    pool.free(99);
    expect(pool.take()).toBeUndefined();
  });
});
