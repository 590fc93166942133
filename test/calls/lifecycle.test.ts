import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { inOrder } from './support/lifecycle/gates.ts';
import {
  ANYWHERE,
  anyScene,
  type Disturbance,
  ORDINARY,
  type Scene,
  STEPS,
  TAKEN_FOR_DEAD,
} from './support/lifecycle/scenes.ts';
import { play } from './support/lifecycle/stage.ts';

/** Set for longer runs: another seed, more scenes, every step. */
const SEED = Number(process.env.LIFE_SEED ?? 1);
const RUNS = Number(process.env.LIFE_RUNS ?? 30);
const STRIDE = Number(process.env.LIFE_STRIDE ?? 31);
const FINE_STRIDE = Math.min(STRIDE, 3);
/** Until the call is answered. */
const SET_UP_STEPS = 110;

const SCENES: readonly Scene[] = [
  ORDINARY,
  { ...ORDINARY, isTransferred: true },
  { ...ORDINARY, direction: 'inbound' },
];
/** Everyday disturbances are tried at each step of call setup. */
const EVERYDAY = ['api_hangup', 'peer_hangup', 'node_dies', 'drain'];

test('A call ends exactly once, for any disturbances in any order', async () => {
  const property = fc.asyncProperty(fc.scheduler(), anyScene, play);
  const outcome = await fc.check(property, { seed: SEED, numRuns: RUNS, endOnFailure: true });
  const [, scene] = outcome.counterexample ?? [];
  expect(outcome.failed, `${outcome.errorInstance}\n${JSON.stringify(scene)}`).toBe(false);
});

test.each([
  ['The bridged target', 0, 'time'],
  ['The caller', null, 'peer_hangup'],
] as const)('%s may hang up at any moment of a transfer', async (_who, talksMs, kind) => {
  const person = { kind: 'answers', talksMs: null } as const;
  const target = { kind: 'answers', talksMs } as const;
  const scene: Scene = { ...ORDINARY, isTransferred: true, target, fates: [person] };
  const property = fc.asyncProperty(fc.scheduler(), fc.integer({ min: 80, max: 180 }), (order, atStep) =>
    play(order, { ...scene, disturbances: [{ atStep, what: kind === 'time' ? { kind, ms: 1 } : { kind } }] }),
  );
  await fc.assert(property, { seed: SEED, numRuns: 15 });
});

describe('A call ends exactly once, at any moment of', () => {
  const named = ANYWHERE.map((what, index): [string, Disturbance, number] => [
    Object.values(what).join(' for '),
    what,
    index,
  ]);
  test.each(named)('%s', async (_name, what, index) => {
    for (const [nth, scene] of SCENES.entries()) {
      const isEveryday = EVERYDAY.includes(what.kind) || what === TAKEN_FOR_DEAD;
      const isFine = (step: number) => isEveryday && step < SET_UP_STEPS && !scene.isTransferred;
      // Different moments for each.
      let atStep = 1 + (((index * SCENES.length + nth) * 5) % (isFine(1) ? FINE_STRIDE : STRIDE));
      for (; atStep <= STEPS; atStep += isFine(atStep) ? FINE_STRIDE : STRIDE) {
        await play(inOrder(), { ...scene, disturbances: [{ atStep, what }] });
      }
    }
  });

  test.each([
    ['inbound', 'a hang-up by the caller', 'peer_hangup'],
    ['outbound', 'a hang-up request', 'api_hangup'],
    ['outbound', 'the death of its node', 'node_dies'],
  ] as const)('an outage of the database, with an %s call and %s', async (direction, _what, kind) => {
    for (let atStep = 1; atStep <= SET_UP_STEPS; atStep += 6) {
      const away = { kind: 'postgres_away', ms: 3_000 } as const;
      const disturbances = [
        { atStep, what: away },
        { atStep: atStep + 2 + (atStep % 8), what: { kind } },
      ];
      await play(inOrder(), { ...ORDINARY, direction, disturbances });
    }
  });
});
