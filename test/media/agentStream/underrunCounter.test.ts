import { describe, expect, it } from 'vitest';
import { UnderrunCounter } from '../../../src/media/agentStream/underrunCounter.ts';

const FRAME = 160;
type Step = 'received' | 'ended' | number;

describe('UnderrunCounter', () => {
  it.each<[string, number, readonly Step[]]>([
    ['no speech yet', 0, [0, 0, 0]],
    ['each chunk arrives in time', 0, ['received', 160, 'received', 160]],
    ['a chunk arrives as the one before ends', 0, ['received', 160, 'received', 160, 0]],
    ['an empty frame, then more speech', 1, ['received', 160, 0, 'received', 160]],
    ['a partial frame, then more speech', 1, ['received', 100, 'received', 160]],
    ['a gap of several frames', 1, ['received', 160, 0, 0, 0, 'received']],
    ['two gaps', 2, ['received', 160, 0, 'received', 160, 0, 'received']],
    ['a gap of 200 ms', 1, ['received', ...new Array<number>(10).fill(0), 'received']],
    ['a pause of 220 ms', 0, ['received', ...new Array<number>(11).fill(0), 'received']],
    ['the end of the speech, then more', 0, ['received', 160, 'ended', 0, 0, 'received']],
    ['the end of the speech during a gap', 0, ['received', 160, 0, 'ended', 'received']],
    ['a clear with its fade', 0, ['received', 160, 'ended', 40, 0, 'received']],
  ])('%s: %d', (_, count, steps) => {
    const counter = new UnderrunCounter();
    for (const step of steps) {
      if (typeof step === 'number') counter.pulling(step, FRAME);
      else counter[step]();
    }
    expect(counter.count).toBe(count);
  });
});
