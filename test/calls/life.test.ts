import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { inOrder } from './support/life/gates.ts';
import { ANYWHERE, anyScene, type Disturbance, ORDINARY, type Scene, STEPS } from './support/life/scenes.ts';
import { play } from './support/life/stage.ts';

/** For a longer look: other seeds, and more of each. */
const SEED = Number(process.env.LIFE_SEED ?? 20_261_121);
const RUNS = Number(process.env.LIFE_RUNS ?? 200);
const STRIDE = Number(process.env.LIFE_STRIDE ?? 14);

test('whatever happens to a call, in whatever order, it comes to one end', async () => {
  const outcome = await fc.check(fc.asyncProperty(fc.scheduler(), anyScene, play), {
    seed: SEED,
    numRuns: RUNS,
    endOnFailure: true,
  });
  const [, scene] = outcome.counterexample ?? [];
  expect(outcome.failed, `${outcome.errorInstance}\n${JSON.stringify(scene)}`).toBe(false);
});

describe('whenever it happens, a call comes to one end where', () => {
  test.each(ANYWHERE.map((what): [string, Disturbance] => [Object.values(what).join(' '), what]))(
    '%s',
    async (_name, what) => {
      const scenes: readonly Scene[] = [
        ORDINARY,
        { ...ORDINARY, isTransferred: true },
        { ...ORDINARY, direction: 'inbound' },
      ];
      for (const scene of scenes) {
        for (let atStep = 1; atStep <= STEPS; atStep += STRIDE) {
          await play(inOrder(), { ...scene, disturbances: [{ atStep, what }] });
        }
      }
    },
  );
});
