import { beforeEach, expect, test } from 'vitest';

import {
  CHECKPOINT_STALE_MS,
  recoverInterruptedTurn,
  type TurnCheckpoint,
} from '../../../src/engine/session/interruptedTurn.ts';
import { memoryEngine, PROJECT } from '../../support/memoryEngine.ts';
import { scriptedModel } from '../../support/scriptedModel.ts';

const AT = '2026-01-01T00:00:00.000Z';
const NOTE: TurnCheckpoint = { turn: 1, at: AT, nodeId: 'start', said: 'And for two?', heard: 'For two it' };

let kept: { readonly note: TurnCheckpoint; readonly ageMs: number } | undefined;
const notes = {
  find: async () => kept,
  async drop() {
    kept = undefined;
  },
};

async function talkOfOneTurn() {
  const talk = memoryEngine({
    model: scriptedModel(() => ({ text: 'Hello.' })),
    pathway: { nodes: [{ id: 'start', type: 'start', data: { title: 'Talk', prompt: 'Talk.' } }], edges: [] },
  });
  await talk.say('Good day');
  const sessions = {
    find: async () => talk.session(),
    async saveTurn(session: ReturnType<typeof talk.session>, record: (typeof talk.records)[number]) {
      talk.sessions.set('s', session);
      talk.records.push(record);
    },
  };
  const keepLost = (minAgeMs?: number) =>
    recoverInterruptedTurn({ sessions, notes, clock: { now: () => Date.parse(AT) } }, PROJECT, 's', minAgeMs);
  return { talk, keepLost };
}

beforeEach(() => {
  kept = { note: NOTE, ageMs: 3000 };
});

test('the words of a turn that was lost with its node are history, the answer as interrupted', async () => {
  const { talk, keepLost } = await talkOfOneTurn();
  await keepLost();
  expect(talk.session().state.messages.slice(2)).toEqual([
    { role: 'user', content: 'And for two?', at: AT },
    { role: 'assistant', content: 'For two it', at: AT, nodeId: 'start', interrupted: true },
  ]);
  expect(talk.records.at(-1)?.messages).toHaveLength(2);
  expect(talk.records.at(-1)?.events).toMatchObject([{ type: 'error', data: { code: 'node_lost' } }]);
  expect(talk.session().turn).toBe(2);
  // Once, whoever asks again.
  await keepLost();
  expect(talk.session().turn).toBe(2);
});

test.each([
  {
    title: 'of a turn that was kept after all',
    given: { note: { ...NOTE, turn: 0 }, ageMs: 3000 },
    left: undefined,
  },
  {
    title: 'that somebody has just put',
    given: { note: NOTE, ageMs: 500 },
    left: { note: NOTE, ageMs: 500 },
  },
])('a note $title adds nothing', async ({ given, left }) => {
  kept = given;
  const { talk, keepLost } = await talkOfOneTurn();
  await keepLost(CHECKPOINT_STALE_MS);
  expect(talk.session().turn).toBe(1);
  expect(kept).toEqual(left);
});

test('of a turn before the agent’s first word only the customer’s words are kept', async () => {
  kept = { note: { ...NOTE, heard: '' }, ageMs: 3000 };
  const { talk, keepLost } = await talkOfOneTurn();
  await keepLost();
  expect(
    talk
      .session()
      .state.messages.slice(2)
      .map(({ role }) => role),
  ).toEqual(['user']);
});
