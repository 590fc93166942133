import { expect, test } from 'vitest';
import { UsageTally } from '../../../src/agents/cost/usage.ts';
import { unavailable } from '../../../src/base/errors.ts';
import type { SessionStore } from '../../../src/engine/session/sessionStore.ts';
import { TurnCancelledError } from '../../../src/engine/turn/delivery.ts';
import { memoryEngine, PROJECT } from '../../support/memoryEngine.ts';
import { scriptedModel } from '../../support/scriptedModel.ts';
import { pathway } from './support/bookingPathway.ts';

const HEARD = { text: 'Well.', interrupted: false };
const delivery = {
  onSession: () => undefined,
  onNode: () => undefined,
  finish: async () => HEARD,
  heardSoFar: () => ({ text: '', interrupted: false }),
};
const used = (requests: number) => ({
  'inputTokens/m-smart': 10 * requests,
  'outputTokens/m-smart': 2 * requests,
  'cachedInputTokens/m-smart': 0,
});
const SMART = { executionMode: 'smart' } as const;

test('What a cancelled turn used is stored with the next turn, beside what speech used', async () => {
  const abort = new AbortController();
  const model = scriptedModel(({ purpose }, index) => {
    if (purpose === 'route') return { json: { edge: null } };
    if (index !== 3) return { text: 'Well.' };
    setImmediate(() => abort.abort(new TurnCancelledError()));
    return { hang: true };
  });
  const conversation = memoryEngine({ model, pathway, agent: SMART });
  const tally = new UsageTally();
  await conversation.say('Hi', { tally, delivery });
  expect(conversation.session().state.usage).toEqual(used(2));

  const request = { input: { kind: 'user_message', text: 'I would' } as const, tally, delivery };
  const wanted = { projectId: PROJECT, sessionId: 's', channel: 'chat' } as const;
  const sink = () => undefined;
  await expect(conversation.engine.runTurn(wanted, () => request, sink, abort.signal)).rejects.toThrow(
    'cancelled',
  );
  expect(conversation.session().state.usage).toEqual(used(2));

  tally.add({ 'recognitionMs/local': 700 });
  await conversation.say('I would like a table', { tally, delivery });
  // Of the cancelled turn the routing counts, whose usage the model told.
  expect(conversation.records.at(-1)?.used).toEqual({ ...used(3), 'recognitionMs/local': 700 });
  expect(conversation.session().state.usage).toEqual({ ...used(5), 'recognitionMs/local': 700 });
  expect(conversation.records.at(-1)?.messages.at(-1)?.usage).toEqual([
    { model: 'm-smart', inputTokens: 20, outputTokens: 4, cachedInputTokens: 0 },
  ]);
  expect([tally.take(), conversation.addedUsage]).toEqual([{}, []]);
});

test('What a turn used that is not stored is added to the session, unless its channel adds it', async () => {
  const model = scriptedModel(() => ({ text: 'Well.' }));
  let fails = false;
  const wrapSessions = (sessions: SessionStore): SessionStore => ({
    ...sessions,
    async saveTurn(...turn) {
      if (fails) throw unavailable('database');
      await sessions.saveTurn(...turn);
    },
  });
  const conversation = memoryEngine({ model, pathway, agent: SMART, wrapSessions });
  await conversation.say('Hi');
  fails = true;
  const tally = new UsageTally();
  await expect(conversation.say('Hello?', { tally })).rejects.toThrow('database');
  expect([tally.take(), conversation.addedUsage]).toEqual([used(2), []]);
  await expect(conversation.say('Hello?')).rejects.toThrow('database');
  expect(conversation.addedUsage).toEqual([used(2)]);
});

test('A model whose endpoint tells no tokens is named with none', async () => {
  const conversation = memoryEngine({
    model: {
      name: 'silent',
      async *stream({ model }) {
        yield { type: 'text', text: 'Well.' };
        yield { type: 'end', finishReason: 'stop', model };
      },
    },
    pathway,
  });
  await conversation.say('Hi');
  expect(Object.values(conversation.session().state.usage ?? {})).toEqual([0, 0, 0]);
  expect(conversation.records.at(-1)?.messages.at(-1)?.usage).toMatchObject([
    { inputTokens: 0, outputTokens: 0 },
  ]);
});

test('What an engine has counted itself stands with its answer, and is not counted again', async () => {
  const conversation = memoryEngine({
    model: {
      name: 'engine',
      async *stream() {
        yield { type: 'text', text: 'Well.' };
        const usage = { promptTokens: 10, completionTokens: 2, totalTokens: 12 };
        yield { type: 'end', finishReason: 'stop', model: 'm-smart', usage, isCounted: true };
      },
    },
    pathway,
  });
  await conversation.say('Hi');
  expect(conversation.session().state.usage).toBe(undefined);
  expect(conversation.records.at(-1)?.messages.at(-1)?.usage).toMatchObject([{ inputTokens: 10 }]);
});
