import { expect, test } from 'vitest';

import { DISTURBANCES } from './disturbances.ts';
import { SCENES } from './scenes.ts';
import { type Played, play } from './sweep.ts';

/** Disturbances per scene, of which some are pairs; a complete sweep takes hours. */
const MOMENTS = 8;
const PAIRS = 2;
const OFFSETS = 6;
const SEED = 20;

/** Reproducible numbers in 0 to 1. @see https://en.wikipedia.org/wiki/Linear_congruential_generator */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const at = (frame: number, offset = 0) => ({ frame, offset });

/** Regressions: moments at which a call once went wrong. */
const REGRESSIONS: Readonly<Record<string, readonly (readonly Played[])[]>> = {
  'a conversation': [
    [{ kind: 'a digit', moment: at(537, 2) }],
    [{ kind: 'a digit', moment: at(241, 5) }],
    [{ kind: 'the database is slow', moment: at(641, 1) }],
    [{ kind: 'the session is ended', moment: at(496, 1) }],
    [{ kind: 'a transfer over the API', moment: at(147, 5) }],
    [{ kind: 'the caller hangs up', moment: at(564, 4) }],
  ],
  'a tool call and end_call': [
    [{ kind: 'the caller hangs up', moment: at(352, 2) }],
    [{ kind: 'a sentence', moment: at(489, 5) }],
  ],
  'a transfer that fails': [[{ kind: 'the model hangs', moment: at(52) }]],
  silence: [[{ kind: 'the database fails', moment: at(136) }]],
};

/** Takes the kinds of disturbances in turn, at random moments of the scene. */
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
  'Scene %s keeps its invariants under disturbances at any moment',
  async (_name, scene, index) => {
    const undisturbed = await play(scene, []);
    expect(undisturbed).toMatchObject({ problems: [] });
    const failed = [];
    for (const played of [...(REGRESSIONS[scene.name] ?? []), ...disturbed(index, undisturbed.frames)]) {
      const { problems, transcript } = await play(scene, played);
      if (problems.length > 0) failed.push({ played, problems, transcript });
    }
    expect(failed).toEqual([]);
  },
);
