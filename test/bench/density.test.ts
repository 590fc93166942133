import { describe, expect, test } from 'vitest';

import { lateP99Ms, parseLateness } from '../../bench/density/lateness.ts';
import { drawDensity } from '../../bench/density/picture.ts';
import type { Plateau } from '../../bench/density/ramp.ts';
import { densitySteps } from '../../bench/density/steps.ts';
import { renderPlayoutDelay } from '../../src/observability/metrics/playout.ts';

/** The page of a node with so many packets within a quarter of a millisecond, and so many 15 ms late. */
function page(onTime: number, late: number) {
  const counts = new Float64Array(401);
  counts[0] = onTime;
  counts[60] = late;
  return parseLateness(renderPlayoutDelay([counts]));
}

describe('The lateness of packets', () => {
  test.each([
    ['on time', page(0, 0), page(100, 0), 0.5],
    ['1 % late', page(0, 0), page(99, 1), 0.5],
    ['2 % late', page(0, 0), page(98, 2), 16],
    ['late before only', page(100, 90), page(300, 90), 0.5],
  ])('%s is read as the bound that 99 % stayed within', (_, before, after, expected) => {
    expect(lateP99Ms(before, after)).toBe(expected);
  });
});

test('The picture has a curve for each step, with hollow marks where calls were refused', () => {
  const [media, , model] = densitySteps(new Uint8Array(160), 'ws://bot/');
  if (!media || !model) throw new Error('there are three steps');
  const plateau = (calls: number, refused: number, heardMs: number[]): Plateau => ({
    ...{ calls, refused, heardMs },
    ...{ cpuPercent: 2, megabytes: 1, rtpP99Ms: 1, mos: 4.4 },
  });
  const drawn = drawDensity(
    [
      { step: media, plateaus: [plateau(10, 0, []), plateau(20, 0, [])] },
      { step: model, plateaus: [plateau(10, 0, [700]), plateau(14, 6, [800])] },
    ],
    'Calls <by> step',
  );
  expect(drawn).toContain('Calls &lt;by> step');
  expect(drawn.match(/<polyline/g)).toHaveLength(6);
  expect(drawn.match(/<circle/g)).toHaveLength(10);
  expect(drawn.match(/fill="#fff"\/>/g)).toHaveLength(1 + 3);
  expect(drawn).not.toContain('NaN');
});
