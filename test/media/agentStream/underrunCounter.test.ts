import { describe, expect, it } from 'vitest';
import { UnderrunCounter } from '../../../src/media/agentStream/underrunCounter.ts';

const FRAME = 160;
type Step = 'came' | 'ended' | number;

describe('UnderrunCounter', () => {
  it.each<[string, number, readonly Step[]]>([
    ['nothing was said yet', 0, [0, 0, 0]],
    ['each piece comes in time', 0, ['came', 160, 'came', 160]],
    ['a piece comes just as the one before has left', 0, ['came', 160, 'came', 160, 0]],
    ['a frame finds nothing, and more comes', 1, ['came', 160, 0, 'came', 160]],
    ['a frame is filled in part, and more comes', 1, ['came', 100, 'came', 160]],
    ['a hole of several frames is one', 1, ['came', 160, 0, 0, 0, 'came']],
    ['two holes are two', 2, ['came', 160, 0, 'came', 160, 0, 'came']],
    ['200 ms pass', 1, ['came', ...new Array<number>(10).fill(0), 'came']],
    ['220 ms pass, as in a pause', 0, ['came', ...new Array<number>(11).fill(0), 'came']],
    ['all was said', 0, ['came', 160, 'ended', 0, 0, 'came']],
    ['it was said after the silence began', 0, ['came', 160, 0, 'ended', 'came']],
    ['it was cleared, and its end fades', 0, ['came', 160, 'ended', 40, 0, 'came']],
  ])('where %s: %d', (_, count, steps) => {
    const counter = new UnderrunCounter();
    for (const step of steps) {
      if (typeof step === 'number') counter.pulling(step, FRAME);
      else counter[step]();
    }
    expect(counter.count).toBe(count);
  });
});
