import { describe, expect, test } from 'vitest';
import type { PathwayInput } from '../../../src/agents/pathway/schema/pathwaySchema.ts';
import { CallwayError, invalid } from '../../../src/base/errors.ts';
import type { TurnRequest } from '../../../src/engine/turn/turn.ts';
import { type MemoryOptions, memoryEngine, PROJECT } from '../../support/memoryEngine.ts';
import { scriptedModel } from '../../support/scriptedModel.ts';

const pathway: PathwayInput = {
  nodes: [{ id: 'start', type: 'start', data: { title: 'Talk', prompt: 'Talk.' } }],
  edges: [],
};
const SESSION = { projectId: PROJECT, sessionId: 's', channel: 'chat' } as const;
const TEST = { releaseId: 'release-2' } as never;
const NEVER = new AbortController().signal;
const delivery = {
  onSession: () => undefined,
  onNode: () => undefined,
  finish: async () => ({ text: 'Yes.', interrupted: false }),
  heardSoFar: () => ({ text: '', interrupted: false }),
};

const open = (options: Partial<MemoryOptions> = {}) =>
  memoryEngine({ model: scriptedModel(() => ({ text: 'Yes.' })), pathway, ...options });
const say = (conversation: ReturnType<typeof open>, wanted: object = {}, more: Partial<TurnRequest> = {}) =>
  conversation.engine.runTurn(
    { ...SESSION, ...wanted },
    () => ({ input: { kind: 'user_message', text: 'Hi' }, ...more }),
    () => undefined,
    NEVER,
  );
const typesOf = ({ liveEvents }: ReturnType<typeof open>) => liveEvents.map(({ type }) => type);

test('A chat counts once, and each turn with its tokens', async () => {
  const conversation = open();
  await conversation.engine.create(SESSION);
  expect(typesOf(conversation)).toEqual(['session.started']);
  await say(conversation);
  await say(conversation);
  const turn = { tokens: 12, characters: 0 };
  expect(conversation.used).toEqual([{ chats: 1 }, turn, turn]);
});

test('A call counts no chat, and its turns with the characters that are spoken', async () => {
  const conversation = open();
  await say(conversation, { channel: 'phone' }, { delivery });
  expect(conversation.used).toEqual([{ tokens: 12, characters: 4 }]);
});

test('A session of a test counts in nothing, tells nothing, and makes no webhook due', async () => {
  const conversation = open();
  await say(conversation, { test: TEST });
  expect(conversation.session()).toMatchObject({ releaseId: 'release-2', state: { test: TEST } });
  await conversation.engine.end(PROJECT, 's', 'api_end');
  expect([conversation.used, conversation.liveEvents]).toEqual([[], []]);
  expect(conversation.endings).toMatchObject([{ expected: [], subscribed: [], evaluating: false }]);
});

test('The end of a session tells which required variables it lacks', async () => {
  const variableConfigs = [{ name: 'age', type: 'number' as const, description: 'Theirs', required: true }];
  const conversation = open({ agent: { variableConfigs } });
  await conversation.engine.create(SESSION);
  expect(await conversation.engine.end(PROJECT, 's', 'api_end')).toBe(true);
  expect(await conversation.engine.end(PROJECT, 's', 'api_end')).toBe(false);
  expect(conversation.liveEvents.at(-1)).toMatchObject({
    type: 'session.ended',
    data: { missingVariables: ['age'] },
  });
  expect(typesOf(conversation)).toEqual(['session.started', 'session.ended']);
});

describe('A session that an audio stream has', () => {
  const away = new CallwayError('unavailable', 'database_unavailable', 'away');

  test('goes on while the database is away, until the stream has ended', async () => {
    let isAway = false;
    const conversation = open({
      onError: () => undefined,
      wrapSessions: (sessions) => ({
        ...sessions,
        find: async (...ids) => {
          if (isAway) throw away;
          return await sessions.find(...ids);
        },
      }),
    });
    const created = await conversation.engine.create(SESSION);
    expect(await conversation.engine.attach(PROJECT, 's')).toBe(created);
    isAway = true;
    expect(await conversation.engine.find(PROJECT, 's')).toBe(created);
    await say(conversation);
    conversation.engine.detach(PROJECT, 's');
    await expect(conversation.engine.find(PROJECT, 's')).rejects.toBe(away);
  });

  test('is not held where it cannot be read', async () => {
    let reads = 0;
    const conversation = open({
      wrapSessions: (sessions) => ({
        ...sessions,
        find: async () => {
          reads += 1;
          throw away;
        },
      }),
    });
    await expect(conversation.engine.attach(PROJECT, 's')).rejects.toBe(away);
    await expect(conversation.engine.find(PROJECT, 's')).rejects.toBe(away);
    expect(reads).toBe(2);
  });
});

test.each([
  ['its id is in use and its channel was told of it', invalid('session_id_in_use', 'in use'), { delivery }],
  ['it cannot be stored', new Error('defect'), {}],
  ['it is invalid', invalid('other', 'other'), {}],
])('A new session fails its first turn where %s', async (_what, error, more) => {
  const conversation = open({
    wrapSessions: (sessions) => ({
      ...sessions,
      insert: async () => {
        throw error;
      },
    }),
  });
  await expect(say(conversation, {}, more)).rejects.toBe(error);
});

test('All messages of a session count its summary from the first', async () => {
  const conversation = open();
  await say(conversation);
  const session = conversation.session();
  const summary = { text: 'They met.', upTo: 1 };
  const state = { ...session.state, messages: session.state.messages.slice(1), messagesBefore: 1, summary };
  const whole = await conversation.engine.withAllMessages({ ...session, state });
  expect(whole.state).toEqual({ ...session.state, summary: { text: 'They met.', upTo: 2 } });
  expect(
    (await conversation.engine.withAllMessages({ ...session, state: { ...state, summary: null } })).state
      .summary,
  ).toBeNull();
  expect(await conversation.engine.withAllMessages(session)).toBe(session);
});

test.each([
  ['spoken', { delivery }, true],
  ['written', {}, false],
])('A %s answer without a word fails the turn: %j', async (_what, more, fails) => {
  const conversation = open({ model: scriptedModel(() => ({ text: '' })) });
  const turn = say(conversation, {}, more);
  if (fails) await expect(turn).rejects.toMatchObject({ code: 'model_malformed' });
  else await turn;
});

test('DTMF digits are told as the customer’s words', async () => {
  const conversation = open();
  await conversation.turn({ kind: 'dtmf', digits: '42' });
  expect(conversation.liveEvents.find(({ type }) => type === 'turn.user')?.data).toEqual({
    turn: 1,
    text: '42',
    input: 'dtmf',
  });
});

test.each<[string, Partial<PathwayInput['edges'][number]['data']>, string]>([
  ['its sentence', { condition: 'They agree.' }, 'They agree.'],
  ['its label, without a condition', { condition: null, label: 'Go on' }, 'Go on'],
  ['that it is unconditional', { condition: null }, 'unconditional'],
  ['its label, with an expression', { condition: { '==': [1, 1] }, label: 'Always' }, 'Always'],
  ['its expression', { condition: { '==': [1, 1] } }, '{"==":[1,1]}'],
])('The history tells why an edge was taken: %s', async (_what, data, why) => {
  const [start] = pathway.nodes;
  const conversation = open({
    pathway: {
      nodes: start ? [start, { id: 'next', type: 'say', data: { title: 'Next', prompt: 'Next.' } }] : [],
      edges: [{ id: 'e', source: 'start', target: 'next', data: { condition: null, ...data } }],
    },
    agent: { executionMode: 'smart' },
    model: scriptedModel(({ purpose }) => (purpose === 'route' ? { json: { edge: 'e' } } : { text: 'Yes.' })),
  });
  await conversation.turn({ kind: 'begin' });
  await conversation.say('Go');
  const entered = conversation.events().filter(({ type }) => type === 'node_entered');
  expect(entered.at(-1)?.data).toEqual({ nodeId: 'next', title: 'Next', why, edgeId: 'e' });
});
