import { expect, test } from 'vitest';
import type { PathwayInput } from '../../../src/agents/pathway/schema/pathwaySchema.ts';
import type { Session } from '../../../src/engine/session/session.ts';
import type { CurrentNode, Delivered, SpokenDelivery } from '../../../src/engine/turn/delivery.ts';
import { ModelError } from '../../../src/models/ports/modelError.ts';
import { memoryEngine } from '../../support/memoryEngine.ts';
import { scriptedModel } from '../../support/scriptedModel.ts';

const pathway: PathwayInput = {
  nodes: [
    { id: 'start', type: 'start', data: { title: 'Greeting', prompt: 'Greet.' } },
    { id: 'sorry', type: 'say', data: { title: 'Sorry', prompt: 'A person will call you back.' } },
    { id: 'bye', type: 'end', data: { title: 'Bye' } },
    { id: 'menu', type: 'say', data: { title: 'Menu', prompt: 'The menu.' } },
  ],
  edges: [
    { id: 'key', source: 'start', target: 'menu', data: { condition: { event: 'dtmf', digits: '1' } } },
    { id: 'wants', source: 'start', target: 'menu', data: { condition: 'The person wants the menu.' } },
    { id: 'any', source: 'start', target: 'sorry', data: { fallback: true } },
    { id: 'over', source: 'sorry', target: 'bye' },
  ],
};

const oneNode: PathwayInput = { nodes: pathway.nodes.slice(0, 1), edges: [] };

function delivering(delivered: Delivered) {
  const delivery = {
    sessions: [] as Session[],
    places: [] as CurrentNode[],
    settled: 0,
    onSession: (session: Session) => void delivery.sessions.push(session),
    onNode: (place: CurrentNode) => void delivery.places.push(place),
    finish: async () => {
      delivery.settled += 1;
      return delivered;
    },
    heardSoFar: () => ({ text: '', interrupted: false }),
  } satisfies SpokenDelivery & Record<string, unknown>;
  return delivery;
}

const last = (conversation: ReturnType<typeof memoryEngine>) => conversation.session().state.messages.at(-1);

test('The history keeps what was heard beside what was generated', async () => {
  const model = scriptedModel(() => ({ text: ['Hello. ', 'How can I help?'] }));
  const conversation = memoryEngine({ model, pathway });
  const latencyParts = {
    bufferMs: 40,
    endpointingMs: 300,
    transcriptionMs: 60,
    answerMs: 200,
    speechMs: 80,
    playoutMs: 20,
  };
  const delivery = delivering({
    text: 'Hello. How',
    interrupted: true,
    latencyMs: 700,
    latencyParts,
    events: [{ type: 'barge_in', data: { heardText: 'Hello. How' } }],
  });
  await conversation.turn({ kind: 'begin' }, { delivery });
  expect(last(conversation)).toMatchObject({
    content: 'Hello. How',
    generatedText: 'Hello. How can I help?',
    interrupted: true,
    latencyMs: 700,
    latencyParts,
  });
  expect(conversation.events().at(-1)).toMatchObject({ type: 'barge_in', data: { heardText: 'Hello. How' } });
  expect(delivery.places).toMatchObject([{ node: { id: 'start' }, digits: ['1'] }]);
  expect(delivery.settled).toBe(1);
});

test('An answer that was heard whole has no generatedText; after an unheard one the node speaks again', async () => {
  const conversation = memoryEngine({ model: scriptedModel(() => ({ text: 'Hello.' })), pathway: oneNode });
  await conversation.turn(
    { kind: 'begin' },
    { delivery: delivering({ text: 'Hello.', interrupted: false }) },
  );
  expect(last(conversation)).toHaveProperty('generatedText', undefined);
  expect(conversation.session().state.hasSpoken).toBe(true);
  await conversation.turn(
    { kind: 'user_message', text: 'Hm?' },
    { delivery: delivering({ text: '', interrupted: true }) },
  );
  expect(last(conversation)).toMatchObject({
    content: '',
    generatedText: expect.any(String),
    interrupted: true,
  });
  expect(conversation.session().state.hasSpoken).toBe(false);
});

test('An unheard answer is not sent to the model', async () => {
  const model = scriptedModel(() => ({ text: 'Hello.' }));
  const conversation = memoryEngine({ model, pathway: oneNode });
  await conversation.turn({ kind: 'begin' }, { delivery: delivering({ text: '', interrupted: true }) });
  await conversation.say('Hello?');
  const roles = model.requests[1]?.messages.map(({ role, content }) => `${role}:${content}`);
  expect(roles).not.toContain('assistant:');
});

test('An interrupted turn is stored with what was heard of it', async () => {
  const model = scriptedModel(() => ({ text: ['One. ', 'Two. '], hang: true }));
  const conversation = memoryEngine({ model, pathway });
  const controller = new AbortController();
  const turn = conversation.engine.runTurn(
    { projectId: 'project-1', sessionId: 's', channel: 'phone' },
    () => ({ input: { kind: 'begin' }, delivery: delivering({ text: 'One.', interrupted: true }) }),
    (output) => {
      if (output.type === 'text' && output.text === 'Two. ')
        setTimeout(() => controller.abort(new Error('cut in')), 5);
      return undefined;
    },
    controller.signal,
  );
  await expect(turn).rejects.toThrow('cut in');
  expect(last(conversation)).toMatchObject({
    content: 'One.',
    generatedText: 'One. Two. ',
    interrupted: true,
  });
});

test('A notice of the channel is stored with its reason', async () => {
  const model = scriptedModel(() => ({ text: 'Hello.' }));
  const conversation = memoryEngine({ model, pathway });
  await conversation.turn({ kind: 'begin' });
  const input = {
    kind: 'channel_error',
    code: 'not_understood',
    message: 'No words were recognised',
  } as const;
  await conversation.turn(input, { delivery: delivering({ text: 'Pardon?', interrupted: false }) });
  expect(last(conversation)).toMatchObject({ role: 'assistant', content: 'Pardon?' });
  expect(conversation.events().at(-1)).toMatchObject({ type: 'error', data: { code: 'not_understood' } });
  expect(model.requests.length).toBe(1);
});

test('After a model failure the pathway takes its fallback with a filler and without the model', async () => {
  const fail = new ModelError('model_unavailable', 'away', { beforeFirstToken: true });
  const model = scriptedModel((_request, index) => (index === 0 ? { text: 'Hello.' } : { fail }));
  const conversation = memoryEngine({
    model,
    pathway,
    agent: { placeholderMessages: { en: ['One moment.'] } },
  });
  await conversation.turn({ kind: 'begin' });
  await expect(conversation.say('Hi')).rejects.toThrow('away');
  const outputs = await conversation.turn(
    { kind: 'failure' },
    { history: [{ role: 'user', content: 'Hi' }] },
  );
  expect(outputs.filter(({ type }) => type === 'text' || type === 'filler')).toEqual([
    { type: 'filler', text: 'One moment.' },
    { type: 'text', text: '\nA person will call you back.' },
  ]);
  expect(outputs.at(-1)).toMatchObject({ type: 'done', ended: 'end_node' });
  expect(model.requests.length).toBe(2);
});
