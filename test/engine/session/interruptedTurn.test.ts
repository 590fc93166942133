import { beforeEach, expect, test } from 'vitest';
import type { Clock } from '../../../src/base/values/clock.ts';
import type { TurnCheckpointStore } from '../../../src/engine/session/interruptedTurn.ts';
import {
  CHECKPOINT_STALE_MS,
  recoverInterruptedTurn,
  type TurnCheckpoint,
} from '../../../src/engine/session/interruptedTurn.ts';
import { memoryEngine, PROJECT } from '../../support/memoryEngine.ts';
import { scriptedModel } from '../../support/scriptedModel.ts';
import { unused } from '../../support/unused.ts';

const AT = '2026-01-01T00:00:00.000Z';
const CHECKPOINT: TurnCheckpoint = {
  turn: 1,
  at: AT,
  nodeId: 'start',
  said: 'And for two?',
  heard: 'For two it',
  speech: { recognition: 'local', synthesis: 'openai' },
};

let stored: { readonly checkpoint: TurnCheckpoint; readonly ageMs: number } | undefined;
const checkpoints = {
  find: async () => stored,
  async drop() {
    stored = undefined;
  },
};

async function sessionWithOneTurn() {
  const conversation = memoryEngine({
    model: scriptedModel(() => ({ text: 'Hello.' })),
    pathway: { nodes: [{ id: 'start', type: 'start', data: { title: 'Talk', prompt: 'Talk.' } }], edges: [] },
  });
  await conversation.say('Good day');
  const sessions = {
    find: async () => conversation.session(),
    async saveTurn(
      session: ReturnType<typeof conversation.session>,
      record: (typeof conversation.records)[number],
    ) {
      conversation.sessions.set('s', session);
      conversation.records.push(record);
    },
  };
  const recover = (minAgeMs?: number) =>
    recoverInterruptedTurn(
      {
        sessions,
        checkpoints: unused<TurnCheckpointStore>('checkpoints', checkpoints),
        clock: unused<Clock>('clock', { now: () => Date.parse(AT) }),
      },
      PROJECT,
      's',
      minAgeMs,
    );
  return { conversation, recover };
}

beforeEach(() => {
  stored = { checkpoint: CHECKPOINT, ageMs: 3000 };
});

test('A recovered turn is added to the history, its answer as interrupted', async () => {
  const { conversation, recover } = await sessionWithOneTurn();
  await recover();
  expect(conversation.session().state.messages.slice(2)).toEqual([
    { role: 'user', content: 'And for two?', at: AT, speech: { recognition: 'local' } },
    {
      role: 'assistant',
      content: 'For two it',
      at: AT,
      nodeId: 'start',
      speech: { synthesis: 'openai' },
      interrupted: true,
    },
  ]);
  expect(conversation.records.at(-1)?.messages).toHaveLength(2);
  expect(conversation.records.at(-1)?.events).toMatchObject([{ type: 'error', data: { code: 'node_lost' } }]);
  expect(conversation.session().turn).toBe(2);
  // A second recovery changes nothing.
  await recover();
  expect(conversation.session().turn).toBe(2);
});

test.each([
  {
    title: 'of a stored turn',
    given: { checkpoint: { ...CHECKPOINT, turn: 0 }, ageMs: 3000 },
    left: undefined,
  },
  {
    title: 'of a running turn',
    given: { checkpoint: CHECKPOINT, ageMs: 500 },
    left: { checkpoint: CHECKPOINT, ageMs: 500 },
  },
])('A checkpoint $title adds nothing', async ({ given, left }) => {
  stored = given;
  const { conversation, recover } = await sessionWithOneTurn();
  await recover(CHECKPOINT_STALE_MS);
  expect(conversation.session().turn).toBe(1);
  expect(stored).toEqual(left);
});

test('A turn recovered before the agent’s first word holds the customer’s words only', async () => {
  stored = { checkpoint: { ...CHECKPOINT, heard: '' }, ageMs: 3000 };
  const { conversation, recover } = await sessionWithOneTurn();
  await recover();
  expect(
    conversation
      .session()
      .state.messages.slice(2)
      .map(({ role }) => role),
  ).toEqual(['user']);
});
