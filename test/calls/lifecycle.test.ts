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

/** For a longer look: another seed, more scenes, every step. */
const SEED = Number(process.env.LIFE_SEED ?? 1);
const RUNS = Number(process.env.LIFE_RUNS ?? 120);
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

test.each([
  ['whoever a caller is joined with', 0, 'time'],
  ['a caller who is being joined with somebody', null, 'peer_hangup'],
] as const)('%s may hang up at any moment of it', async (_who, talksMs, kind) => {
  const person = { kind: 'answers', talksMs: null } as const;
  const second = { kind: 'answers', talksMs } as const;
  const scene: Scene = { ...ORDINARY, isTransferred: true, second, fates: [person] };
  const property = fc.asyncProperty(fc.scheduler(), fc.integer({ min: 80, max: 180 }), (order, atStep) =>
    play(order, { ...scene, disturbances: [{ atStep, what: kind === 'time' ? { kind, ms: 1 } : { kind } }] }),
  );
  await fc.assert(property, { seed: SEED, numRuns: 30 });
});

describe('whenever it happens, a call comes to one end where', () => {
  const named = ANYWHERE.map((what, index): [string, Disturbance, number] => [
    Object.values(what).join(' for '),
    what,
    index,
  ]);
  test.each(named)('%s', async (_name, what, index) => {
    for (const [nth, scene] of SCENES.entries()) {
      const isUsual = USUAL.includes(what.kind) || what === TAKEN_FOR_DEAD;
      const isFine = (step: number) => isUsual && step < SET_UP_STEPS && !scene.isTransferred;
      // Not the same moments for all.
      let atStep = 1 + (((index * SCENES.length + nth) * 5) % (isFine(1) ? FINE_STRIDE : STRIDE));
      for (; atStep <= STEPS; atStep += isFine(atStep) ? FINE_STRIDE : STRIDE) {
        await play(inOrder(), { ...scene, disturbances: [{ atStep, what }] });
      }
    }
  });

  test.each([
    ['inbound', 'its caller hangs up', 'peer_hangup'],
    ['outbound', 'it is hung up', 'api_hangup'],
    ['outbound', 'its node dies', 'node_dies'],
  ] as const)('the database is away, the call is %s, and %s', async (direction, _what, kind) => {
    for (let atStep = 1; atStep <= SET_UP_STEPS; atStep += 3) {
      const away = { kind: 'postgres_away', ms: 3_000 } as const;
      const disturbances = [
        { atStep, what: away },
        { atStep: atStep + 2 + (atStep % 8), what: { kind } },
      ];
      await play(inOrder(), { ...ORDINARY, direction, disturbances });
    }
  });
});
