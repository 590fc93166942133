import { expect, test } from 'vitest';

import { drawDensity } from '../../bench/density/picture.ts';
import type { Plateau } from '../../bench/density/ramp.ts';
import { densitySteps } from '../../bench/density/steps.ts';

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
