import { expect, test } from 'vitest';
import type { PathwayInput } from '../../../src/agents/pathway/schema/pathwaySchema.ts';
import type { TurnInput, TurnOutput } from '../../../src/engine/turn/turn.ts';
import type { ChatModel } from '../../../src/models/ports/chatModel.ts';
import { ModelError } from '../../../src/models/ports/modelError.ts';
import { memoryEngine, PROJECT } from '../../support/memoryEngine.ts';
import { type ScriptedAnswer, scriptedModel } from '../../support/scriptedModel.ts';

const ENGINE = { provider: 'openai-realtime' } as const;
const pathway: PathwayInput = {
  nodes: [
    { id: 'start', type: 'start', data: { title: 'Greet', prompt: 'Greet.', tools: ['end_call'] } },
    { id: 'book', type: 'conversation', data: { title: 'Book', prompt: 'Ask for the date.' } },
  ],
  edges: [{ id: 'wants', source: 'start', target: 'book', data: { condition: 'They want to book.' } }],
};

/** A call whose model speaks itself, and whose caller’s words are known later. */
function call(speaks: (index: number) => ScriptedAnswer) {
  const chat = scriptedModel(() => ({ text: 'Chat.' }));
  const voice = scriptedModel((_request, index) => speaks(index));
  const conversation = memoryEngine({ model: chat, pathway, agent: { engine: ENGINE } });
  const delivery = {
    onSession: () => undefined,
    onNode: () => undefined,
    finish: async () => ({ text: 'Heard.', interrupted: false }),
    heardSoFar: () => ({ text: '', interrupted: false }),
    speakingModel: (): ChatModel => voice,
  };
  const turn = async (late?: Promise<string>, signal = new AbortController().signal) => {
    const outputs: TurnOutput[] = [];
    const input: TurnInput = late ? { kind: 'user_message', text: '…', late } : { kind: 'begin' };
    await conversation.engine.runTurn(
      { projectId: PROJECT, sessionId: 's', channel: 'phone' },
      () => ({ input, delivery }),
      (output) => void outputs.push(output),
      signal,
    );
    return outputs;
  };
  const words = () =>
    conversation.session().state.messages.flatMap(({ role, content }) => (role === 'user' ? [content] : []));
  const told = () =>
    conversation.liveEvents.flatMap(({ type, data }) =>
      type === 'turn.user' ? [(data as { text: string }).text] : [],
    );
  return { conversation, chat, voice, turn, words, told };
}

test('A model that speaks itself answers before the words are known, which are in the history all the same', async () => {
  let hear = (_words: string) => {};
  const late = new Promise<string>((resolve) => {
    hear = resolve;
  });
  const { chat, voice, turn, words, told } = call(() => {
    setImmediate(() => hear('Hello?'));
    return { text: 'Spoken.' };
  });
  const outputs = await turn(late);
  expect(outputs).toContainEqual({ type: 'text', text: 'Spoken.' });
  expect(outputs.at(-1)).toMatchObject({ model: 'scripted' });
  expect([words(), told(), chat.requests]).toEqual([['Hello?'], ['Hello?'], []]);
  const [request] = voice.requests;
  expect(request).toMatchObject({
    model: 'scripted',
    step: 'start',
    purpose: 'answer_and_route',
  });
  expect(request?.tools?.map(({ name }) => name)).toEqual(['move_to', 'end_call']);
  expect(request?.messages.filter(({ role }) => role === 'system')).toHaveLength(1);
});

test('It moves by its tool once the node was spoken, and speaks the next node', async () => {
  const { conversation, voice, turn } = call((index) =>
    index === 1 ? { calls: [{ name: 'move_to', arguments: { edge: 'wants' } }] } : { text: 'Spoken.' },
  );
  await turn();
  await turn(Promise.resolve('I want to book'));
  expect(conversation.session().state.currentNodeId).toBe('book');
  expect(voice.requests.map(({ step, withheldTools }) => [step, withheldTools])).toEqual([
    ['start', ['move_to']],
    ['start', undefined],
    ['book', undefined],
  ]);
});

test.each<[string, ScriptedAnswer]>([
  ['fails', { fail: new ModelError('model_unavailable', 'away', { beforeFirstToken: true }) }],
  ['says nothing', { text: '' }],
])('Where it %s, the chat model reads the words and answers', async (_what, spoken) => {
  const { chat, turn, words } = call(() => spoken);
  expect(await turn(Promise.resolve('Hello?'))).toContainEqual({ type: 'text', text: 'Chat.' });
  expect(chat.requests[0]?.messages.map(({ content }) => content)).toContain('Hello?');
  expect(words()).toEqual(['Hello?']);
});

test('Where it breaks off, the chat model goes on from what was said', async () => {
  const { chat, turn } = call(() => ({
    text: 'It costs',
    fail: new ModelError('model_unavailable', 'away', { beforeFirstToken: false }),
  }));
  const texts = (await turn(Promise.resolve('Hello?'))).flatMap((output) =>
    output.type === 'text' ? [output.text] : [],
  );
  expect(texts.map((text) => text.trim())).toEqual(['It costs', 'Chat.']);
  expect(JSON.stringify(chat.requests[0]?.messages)).toContain('It costs');
});

test('Another error of it fails the turn', async () => {
  const { chat, turn } = call(() => ({ fail: new Error('defect') }));
  await expect(turn(Promise.resolve('Hello?'))).rejects.toThrow('defect');
  expect(chat.requests).toEqual([]);
});

test('A caller who leaves before their words are known is not waited for', async () => {
  const left = new AbortController();
  const { turn, words } = call(() => {
    setImmediate(() => left.abort(new Error('gone')));
    return { text: 'Spoken.', hang: true };
  });
  await expect(turn(new Promise(() => undefined), left.signal)).rejects.toThrow('gone');
  expect(words()).toEqual(['…']);
});
