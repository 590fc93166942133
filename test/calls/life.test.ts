import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { inOrder } from './support/life/gates.ts';
import { ANYWHERE, anyScene, type Disturbance, ORDINARY, type Scene, STEPS } from './support/life/scenes.ts';
import { play } from './support/life/stage.ts';

/** For a longer look: another seed, more scenes, every step. */
const SEED = Number(process.env.LIFE_SEED ?? 1);
const RUNS = Number(process.env.LIFE_RUNS ?? 150);
const STRIDE = Number(process.env.LIFE_STRIDE ?? 16);
const FINE_STRIDE = Math.min(STRIDE, 2);
/** Until somebody talks. */
const SET_UP_STEPS = 110;

const SCENES: readonly Scene[] = [
  ORDINARY,
  { ...ORDINARY, isTransferred: true },
  { ...ORDINARY, direction: 'inbound' },
];
/** What people and operators do all day is tried at each moment of a set-up. */
const USUAL = ['api_hangup', 'peer_hangup', 'node_dies', 'drain'];

test('whatever happens to a call, in whatever order, it comes to one end', async () => {
  const property = fc.asyncProperty(fc.scheduler(), anyScene, play);
  const outcome = await fc.check(property, { seed: SEED, numRuns: RUNS, endOnFailure: true });
  const [, scene] = outcome.counterexample ?? [];
  expect(outcome.failed, `${outcome.errorInstance}\n${JSON.stringify(scene)}`).toBe(false);
});

test('whoever a caller is joined with may hang up at any moment of it', async () => {
  const second = { kind: 'answers', talksMs: 0 } as const;
  const scene: Scene = {
    ...ORDINARY,
    isTransferred: true,
    second,
    fates: [{ kind: 'answers', talksMs: null }],
  };
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), (order) => play(order, scene)),
    { seed: SEED, numRuns: 30 },
  );
});

describe('whenever it happens, a call comes to one end where', () => {
  const named = ANYWHERE.map((what, index): [string, Disturbance, number] => [
    Object.values(what).join(' for '),
    what,
    index,
  ]);
  test.each(named)('%s', async (_name, what, index) => {
    for (const [nth, scene] of SCENES.entries()) {
      const isFine = (step: number) =>
        USUAL.includes(what.kind) && step < SET_UP_STEPS && scene !== SCENES[1];
      // Not the same moments for all.
      let atStep = 1 + (((index * SCENES.length + nth) * 5) % (isFine(1) ? FINE_STRIDE : STRIDE));
      for (; atStep <= STEPS; atStep += isFine(atStep) ? FINE_STRIDE : STRIDE) {
        await play(inOrder(), { ...scene, disturbances: [{ atStep, what }] });
      }
    }
  });

  test.each(['inbound', 'outbound'] as const)(
    'an %s one is hung up while the database is away',
    async (direction) => {
      for (let atStep = 1; atStep <= SET_UP_STEPS; atStep += 3) {
        const disturbances = [
          { atStep, what: { kind: 'postgres_away', ms: 3_000 } },
          { atStep: atStep + 2, what: { kind: direction === 'inbound' ? 'peer_hangup' : 'api_hangup' } },
        ] as const;
        await play(inOrder(), { ...ORDINARY, direction, disturbances });
      }
    },
  );
});
