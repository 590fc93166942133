import { expect, test } from 'vitest';

import { DISTURBANCES } from './support/disturbances.ts';
import { SCENES } from './support/scenes.ts';
import { type Played, play } from './support/sweep.ts';

/** So many moments of each scene, and among them pairs; a sweep over all of them takes hours. */
const MOMENTS = 10;
const PAIRS = 2;
const OFFSETS = 6;
const SEED = 20;

/** Numbers in 0 to 1, the same ones for a seed. @see https://en.wikipedia.org/wiki/Linear_congruential_generator */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Kinds of disturbances in turn, so that all of them have theirs, at moments of a scene. */
function disturbed(scene: number, frames: number): Played[][] {
  const random = randomNumbers(SEED + scene);
  const kinds = Object.keys(DISTURBANCES);
  const one = (at: number): Played => ({
    kind: kinds[at % kinds.length] ?? '',
    moment: { frame: Math.floor(random() * frames), offset: Math.floor(random() * OFFSETS) },
  });
  return Array.from({ length: MOMENTS }, (_, n) => {
    const first = one(scene * MOMENTS + n);
    return n < PAIRS ? [first, one(Math.floor(random() * kinds.length))] : [first];
  });
}

test.each(SCENES.map((scene, index) => [scene.name, scene, index] as const))(
  '%s goes wrong for nobody, whatever happens in it, and whenever',
  async (_name, scene, index) => {
    const calm = await play(scene, []);
    expect(calm).toMatchObject({ problems: [] });
    const wrong = [];
    for (const played of disturbed(index, calm.frames)) {
      const { problems, transcript } = await play(scene, played);
      if (problems.length > 0) wrong.push({ played, problems, transcript });
    }
    expect(wrong).toEqual([]);
  },
);
