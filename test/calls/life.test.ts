import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { inOrder } from './support/life/gates.ts';
import { ANYWHERE, anyScene, type Disturbance, ORDINARY, type Scene, STEPS } from './support/life/scenes.ts';
import { play } from './support/life/stage.ts';

/** For a longer look: another seed, more scenes, every step. */
const SEED = Number(process.env.LIFE_SEED ?? 1);
const RUNS = Number(process.env.LIFE_RUNS ?? 200);
const STRIDE = Number(process.env.LIFE_STRIDE ?? 14);

const SCENES: readonly Scene[] = [
  ORDINARY,
  { ...ORDINARY, isTransferred: true },
  { ...ORDINARY, direction: 'inbound' },
];

test('whatever happens to a call, in whatever order, it comes to one end', async () => {
  const property = fc.asyncProperty(fc.scheduler(), anyScene, play);
  const outcome = await fc.check(property, { seed: SEED, numRuns: RUNS, endOnFailure: true });
  const [, scene] = outcome.counterexample ?? [];
  expect(outcome.failed, `${outcome.errorInstance}\n${JSON.stringify(scene)}`).toBe(false);
});

describe('whenever it happens, a call comes to one end where', () => {
  const named = ANYWHERE.map((what, index): [string, Disturbance, number] => [
    Object.values(what).join(' for '),
    what,
    index,
  ]);
  test.each(named)('%s', async (_name, what, index) => {
    for (const [nth, scene] of SCENES.entries()) {
      // Not the same moments for all.
      const first = 1 + (((index * SCENES.length + nth) * 5) % STRIDE);
      for (let atStep = first; atStep <= STEPS; atStep += STRIDE) {
        await play(inOrder(), { ...scene, disturbances: [{ atStep, what }] });
      }
    }
  });
});
