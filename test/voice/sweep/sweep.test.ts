import { expect, test } from 'vitest';

import { DISTURBANCES } from './disturbances.ts';
import { SCENES } from './scenes.ts';
import { type Played, play } from './sweep.ts';

/** So many moments of each scene, and among them pairs; a sweep over all of them takes hours. */
const MOMENTS = 8;
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

const at = (frame: number, offset = 0) => ({ frame, offset });

/** Moments at which a call once went wrong. */
const KNOWN: Readonly<Record<string, readonly (readonly Played[])[]>> = {
  'a talk': [
    [{ kind: 'a key', moment: at(537, 2) }],
    [{ kind: 'a key', moment: at(241, 5) }],
    [{ kind: 'the database is slow', moment: at(641, 1) }],
    [{ kind: 'the session is ended', moment: at(496, 1) }],
    [{ kind: 'a transfer over the agent’s head', moment: at(147, 5) }],
    [{ kind: 'the caller hangs up', moment: at(564, 4) }],
  ],
  'a look-up, and the agent’s end': [
    [{ kind: 'the caller hangs up', moment: at(352, 2) }],
    [{ kind: 'a sentence', moment: at(489, 5) }],
  ],
  'a transfer that fails': [[{ kind: 'the model hangs', moment: at(52) }]],
  silence: [[{ kind: 'the database fails', moment: at(136) }]],
};

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
    for (const played of [...(KNOWN[scene.name] ?? []), ...disturbed(index, calm.frames)]) {
      const { problems, transcript } = await play(scene, played);
      if (problems.length > 0) wrong.push({ played, problems, transcript });
    }
    expect(wrong).toEqual([]);
  },
);
