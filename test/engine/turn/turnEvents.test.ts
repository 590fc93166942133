import { expect, test } from 'vitest';

import type { PathwayInput } from '../../../src/agents/pathway/schema/pathwaySchema.ts';
import type { Commitment, Delivered, SpokenDelivery } from '../../../src/engine/turn/delivery.ts';
import { TurnCancelledError } from '../../../src/engine/turn/delivery.ts';
import { liveEventData, type NewLiveEvent } from '../../../src/events/liveEvent.ts';
import { memoryEngine } from '../../support/memoryEngine.ts';
import { scriptedModel } from '../../support/scriptedModel.ts';

const pathway: PathwayInput = {
  nodes: [
    { id: 'start', type: 'start', data: { title: 'Greeting', prompt: 'Hello.', tools: ['set_variable'] } },
    { id: 'bye', type: 'end', data: { title: 'Bye' } },
  ],
  edges: [
    { id: 'done', source: 'start', target: 'bye', data: { condition: '{"==":[{"var":"name"},"Ada"]}' } },
  ],
};
const call = { direction: 'inbound', fromNumber: '+1', toNumber: '+2', callId: 'c', trunkId: null } as const;

const settingName = () =>
  scriptedModel((_request, index) =>
    index === 0
      ? { calls: [{ name: 'set_variable', arguments: { name: 'name', value: 'Ada' } }] }
      : { text: 'Thank you, Ada.' },
  );

function spoken(delivered: Delivered, commitment?: Commitment): SpokenDelivery {
  return {
    onSession: () => undefined,
    onNode: () => undefined,
    finish: async () => delivered,
    heardSoFar: () => ({ text: '', interrupted: false }),
    ...(commitment ? { commitment } : {}),
  };
}

function pendingCommitment() {
  let resolve: () => void = () => undefined;
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<void>((...settle) => {
    [resolve, reject] = settle;
  });
  promise.catch(() => undefined);
  return { commitment: { isPending: true, promise }, resolve, reject };
}

const typesOf = (events: readonly NewLiveEvent[]) => events.map(({ type }) => type);

test('A session tells its life in order, with data of the types that are declared', async () => {
  const conversation = memoryEngine({ model: settingName(), pathway, call });
  await conversation.say('I am Ada');
  await conversation.engine.end('project-1', 's', 'api_end');
  const { liveEvents } = conversation;
  expect(typesOf(liveEvents)).toEqual([
    'session.started',
    'turn.started',
    'turn.user',
    'node.entered',
    'tool.called',
    'variable.set',
    'tool.finished',
    'turn.agent',
    'session.ended',
  ]);
  for (const { type, data, projectId, sessionId, callId } of liveEvents) {
    expect(liveEventData[type].parse(data)).toEqual(data);
    expect({ projectId, sessionId, callId }).toEqual({ projectId: 'project-1', sessionId: 's', callId: 'c' });
  }
  const dataOf = (type: string) => liveEvents.find((event) => event.type === type)?.data;
  expect(dataOf('turn.user')).toEqual({ turn: 1, text: 'I am Ada', input: 'words' });
  expect(dataOf('turn.agent')).toMatchObject({ turn: 1, text: 'Thank you, Ada.', interrupted: false });
  expect(dataOf('tool.finished')).toMatchObject({ name: 'set_variable', ok: true });
  expect(dataOf('variable.set')).toEqual({ turn: 1, name: 'name', value: 'Ada', source: 'model' });
  expect(dataOf('session.ended')).toEqual({ channel: 'phone', reason: 'api_end', missingVariables: [] });
});

test('An interrupted answer is told as heard, beside what was written', async () => {
  const conversation = memoryEngine({ model: scriptedModel(() => ({ text: 'One. Two.' })), pathway, call });
  const heard = { heardText: 'One.', heardMs: 400, stopMs: 90 };
  const delivery = spoken({
    text: 'One.',
    interrupted: true,
    latencyMs: 700,
    events: [{ type: 'barge_in', data: heard }],
  });
  await conversation.turn({ kind: 'user_message', text: 'Count' }, { delivery });
  const told = { turn: 1, text: 'One.', generatedText: 'One. Two.', latencyMs: 700 };
  expect(conversation.liveEvents.slice(-2)).toMatchObject([
    { type: 'turn.interrupted', data: { ...told, heardMs: 400, stopMs: 90 } },
    { type: 'turn.agent', data: { ...told, interrupted: true } },
  ]);
});

test('A preemptive turn is told once it is committed, and never where it is cancelled', async () => {
  for (const isCommitted of [true, false]) {
    const pending = pendingCommitment();
    const model = scriptedModel(() => ({ text: 'Yes.', after: pending.commitment.promise }));
    const conversation = memoryEngine({ model, pathway, call });
    const running = conversation.turn(
      { kind: 'user_message', text: 'Ready?' },
      { delivery: spoken({ text: 'Yes.', interrupted: false }, pending.commitment) },
    );
    await expect.poll(() => model.requests.length).toBe(1);
    expect(typesOf(conversation.liveEvents)).toEqual(['session.started']);
    if (isCommitted) pending.resolve();
    else pending.reject(new TurnCancelledError());
    await running.catch(() => undefined);
    expect(typesOf(conversation.liveEvents)).toEqual(
      isCommitted
        ? ['session.started', 'turn.started', 'turn.user', 'node.entered', 'turn.agent']
        : ['session.started'],
    );
  }
});

test('What a caller said without an answer is told, earlier messages of a chat are not', async () => {
  const history = [{ role: 'user', content: 'Before' }] as const;
  const tell = async (more: { delivery?: SpokenDelivery }) => {
    const conversation = memoryEngine({ model: scriptedModel(() => ({ text: 'Yes.' })), pathway, call });
    await conversation.turn({ kind: 'user_message', text: 'Now' }, { history, ...more });
    return conversation.liveEvents.flatMap((event) => (event.type === 'turn.user' ? event.data.text : []));
  };
  expect(await tell({ delivery: spoken({ text: 'Yes.', interrupted: false }) })).toEqual(['Before', 'Now']);
  expect(await tell({})).toEqual(['Now']);
});
