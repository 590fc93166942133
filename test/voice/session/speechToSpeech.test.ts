import { expect, test } from 'vitest';
import type { PathwayInput } from '../../../src/agents/pathway/schema/pathwaySchema.ts';
import type { EngineConfig } from '../../../src/agents/speech/engineConfig.ts';
import type { Tool } from '../../../src/agents/tool.ts';
import { sleep } from '../../../src/base/async/sleep.ts';
import { ModelError } from '../../../src/models/ports/modelError.ts';
import { CallEngine } from '../../../src/voice/speechToSpeech/callEngine.ts';
import { PROJECT } from '../../support/memoryEngine.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { PLACES } from '../support/callWith.ts';
import { type RealtimeScript, ScriptedRealtime } from '../support/scriptedRealtime.ts';
import {
  eventsOf,
  greeted,
  lastMessage,
  nodeWith,
  type SimulatedCallOptions,
  simulatedCall,
} from '../support/simulatedCall.ts';

const ENGINE = { provider: 'openai-realtime', voice: 'marin' } as const;
const PATHWAY: PathwayInput = {
  nodes: [
    {
      id: 'start',
      type: 'start',
      data: { title: 'Greet', prompt: 'Greet {{ name | default: "Ann" }}.', tools: ['end_call'] },
    },
    { id: 'book', type: 'conversation', data: { title: 'Book', prompt: 'Ask for the date.' } },
  ],
  edges: [
    { id: 'wants-booking', source: 'start', target: 'book', data: { condition: 'They want to book.' } },
  ],
};

const ORDER_TOOL = {
  id: 'tool-1',
  name: 'find_order',
  description: 'Finds an order.',
  parameters: { type: 'object', properties: { number: { type: 'integer' } } },
  speakWhile: { en: 'I am looking.' },
} as unknown as Tool;

function realtimeCall(script: RealtimeScript, more: Partial<SimulatedCallOptions> = {}) {
  const server = new ScriptedRealtime(script);
  const call = simulatedCall({
    answer: () => ({ text: 'This is the chat model.' }),
    pathway: PATHWAY,
    agent: { engine: ENGINE, globalPrompt: 'Be kind.' },
    engines: server.engines(),
    ...more,
  });
  return { server, call };
}

test('The model greets, hears and answers, and both sides are in the history', async () => {
  const { call } = realtimeCall({
    answer: (index) => ({ text: ['Hello from the model.', 'It costs ten euros.'][index] ?? '' }),
    heard: ['what does it cost'],
  });
  await greeted(call);
  await call.say('', 1000);
  await greeted(call);
  await call.hangUp();
  expect(call.transcript()).toEqual([
    'assistant: Hello from the model.',
    'user: what does it cost',
    'assistant: It costs ten euros.',
  ]);
  expect(lastMessage(call)).toMatchObject({ speech: { synthesis: 'openai-realtime' } });
  expect(call.model.requests).toEqual([]);
  expect(call.voice.texts).toEqual([]);
});

test('The model is given the node’s prompt and tools, and may not move before the caller has spoken', async () => {
  const { server, call } = realtimeCall({ answer: () => ({ text: 'Hello.' }) });
  await greeted(call);
  expect(server.dialed).toEqual([
    {
      url: 'wss://realtime.example/v1/realtime?model=gpt-realtime',
      headers: { authorization: 'Bearer secret-key' },
    },
  ]);
  expect(server.types()).toEqual(['session.update', 'response.create']);
  const [update] = server.of('session.update');
  expect(update?.session).toMatchObject({
    type: 'realtime',
    instructions: expect.stringMatching(/Be kind\.[\s\S]*Greet Ann\./),
    tools: [{ name: 'move_to' }, { name: 'end_call' }],
    audio: { input: { turn_detection: null }, output: { voice: 'marin' } },
  });
  expect(server.of('response.create')[0]).toMatchObject({ response: { tools: [{ name: 'end_call' }] } });
  await call.stream.hangUp();
});

test('A call of move_to moves the pathway, and the model goes on with the next node’s prompt and tools', async () => {
  const { server, call } = realtimeCall({
    answer: (index) =>
      [
        { text: 'Hello.' },
        { text: 'Sure.', calls: [{ name: 'move_to', arguments: { edge: 'wants-booking' } }] },
        { text: 'Which date?' },
      ][index] ?? {},
    heard: ['I want to book'],
  });
  await greeted(call);
  await call.say('', 1000);
  await greeted(call);
  await call.hangUp();
  expect(server.types().slice(2)).toEqual([
    'input_audio_buffer.commit',
    'input_audio_buffer.clear',
    'response.create',
    'session.update',
    'conversation.item.create',
    'response.create',
  ]);
  expect(server.of('session.update')[1]).toMatchObject({
    session: { instructions: expect.stringContaining('Ask for the date.'), tools: [] },
  });
  expect(server.of('conversation.item.create')).toMatchObject([
    { item: { type: 'function_call_output', call_id: 'call-2-0' } },
  ]);
  expect(call.transcript().slice(1)).toEqual(['user: I want to book', 'assistant: Sure.\nWhich date?']);
  expect(eventsOf(call, 'node_entered').map(({ nodeId }) => nodeId)).toEqual(['start', 'book']);
});

test('An interruption truncates the model’s words to what was heard', async () => {
  const long = 'One two three four five six seven eight nine ten.';
  const { server, call } = realtimeCall({
    answer: (index) => ({ text: [long, 'Of course.'][index] ?? '' }),
    heard: ['something else please'],
  });
  await call.agentSpeaks();
  await call.stream.advance(1000);
  await call.say('', 1000);
  await greeted(call);
  await call.hangUp();
  const [bargeIn] = eventsOf(call, 'barge_in');
  const heardMs = Number(bargeIn?.heardMs);
  expect(heardMs).toBeGreaterThan(1300);
  expect(server.of('conversation.item.truncate')).toEqual([
    {
      type: 'conversation.item.truncate',
      item_id: 'said-1',
      content_index: 0,
      audio_end_ms: expect.closeTo(heardMs, -1),
    },
  ]);
  expect(call.transcript()).toEqual([
    'assistant: One two three four five',
    'user: something else please',
    'assistant: Of course.',
  ]);
});

test('The model’s tools run as those of any other, with the line that is said meanwhile', async () => {
  const clock = createSimulatedClock();
  const { server, call } = realtimeCall(
    {
      answer: (index) =>
        [
          { text: 'Hello.' },
          { calls: [{ name: 'find_order', arguments: { number: 7 } }] },
          { text: 'It is on its way.' },
        ][index] ?? {},
      heard: ['where is my order'],
    },
    {
      clock,
      pathway: nodeWith({ tools: ['tool-1'] }),
      tools: [ORDER_TOOL],
      toolRunner: {
        async run(_tool, _arguments, _variables, signal) {
          await sleep(clock, 2000, signal);
          return { ok: true, text: '{"state":"sent"}' };
        },
      },
    },
  );
  await greeted(call);
  await call.say('', 1000);
  await call.stream.advance(6000);
  await call.hangUp();
  expect(server.of('conversation.item.create')).toContainEqual({
    type: 'conversation.item.create',
    item: { type: 'function_call_output', call_id: 'call-2-0', output: '{"state":"sent"}' },
  });
  expect(call.voice.texts).toEqual(['I am looking.']);
  expect(call.transcript().at(-1)).toBe('assistant: I am looking.\nIt is on its way.');
});

test('The model ends the call with end_call', async () => {
  const { call } = realtimeCall({
    answer: (index) =>
      index === 0
        ? { text: 'Hello.' }
        : { text: 'Goodbye.', calls: [{ name: 'end_call' }], callsAtEnd: true },
    heard: ['bye'],
  });
  await greeted(call);
  await call.say('', 1000);
  await call.stream.until(() => call.stream.commands.length > 0);
  expect(call.stream.commands).toEqual([{ kind: 'hangup' }]);
  expect(await call.hangUp()).toMatchObject({ outcome: 'hung_up' });
});

test('Variables are extracted from the model’s transcript', async () => {
  const { call } = realtimeCall(
    { answer: () => ({ text: 'Hello.' }), heard: ['I am Bob'] },
    {
      answer: () => ({ json: { name: 'Bob' } }),
      agent: {
        engine: ENGINE,
        variableConfigs: [{ name: 'name', type: 'string', description: 'The name.' }],
      },
    },
  );
  await greeted(call);
  await call.say('', 1000);
  await greeted(call);
  await call.hangUp();
  expect(eventsOf(call, 'variable_set')).toEqual([{ name: 'name', value: 'Bob', source: 'extracted' }]);
});

test('The answer does not wait for words that are late, and the history has them', async () => {
  const { server, call } = realtimeCall({
    answer: (index) => ({ text: ['Hello.', 'Ten euros.'][index] ?? '' }),
  });
  await greeted(call);
  await call.say('', 1000);
  await call.agentSpeaks();
  server.send({
    type: 'conversation.item.input_audio_transcription.completed',
    item_id: 'heard-0',
    transcript: 'what does it cost',
  });
  await greeted(call);
  await call.hangUp();
  expect(call.transcript().slice(1)).toEqual(['user: what does it cost', 'assistant: Ten euros.']);
});

test.each([
  ['refuses the key', { refuse: new ModelError('model_rejected', 'realtime.example refuses the key') }],
  ['does not answer the handshake', { hangs: true }],
  ['does not start to speak', { answer: () => ({ isSilent: true }) }],
])('A model that %s is left for the ordinary chain within 1.6 s', async (_what, script) => {
  const { call } = realtimeCall({ answer: () => ({}), ...script });
  await call.stream.until(call.isAgentSpeaking, 1600);
  await call.agentFallsSilent();
  await call.say('What does it cost?', 1000);
  await greeted(call);
  await call.hangUp();
  expect(call.transcript()).toEqual([
    'assistant: This is the chat model.',
    'user: What does it cost?',
    'assistant: This is the chat model.',
  ]);
  expect(call.sessionEvents).toMatchObject([
    { type: 'provider_fallback', data: { kind: 'engine', from: 'openai-realtime', to: 'chain' } },
  ]);
});

test('A connection that closes in the middle of an answer is followed by the chat model’s words', async () => {
  const { call } = realtimeCall({ answer: () => ({ text: 'Welcome to the', breaks: true }) });
  await greeted(call);
  await call.stream.advance(2000);
  await call.hangUp();
  expect(call.transcript()).toEqual(['assistant: Welcome to the This is the chat model.']);
  expect(call.model.requests[0]?.messages.at(-1)?.content).toContain('Your voice failed');
  expect(call.sessionEvents).toHaveLength(1);
});

test('A tool call that takes long to be written is waited for', async () => {
  const { server, call } = realtimeCall({
    answer: (index) => (index === 0 ? { text: 'Hello.' } : { isWriting: true }),
    heard: ['bye'],
  });
  await greeted(call);
  await call.say('', 1000);
  await call.stream.until(() => server.of('response.create').length === 2);
  await call.stream.advance(3000);
  const item = { type: 'function_call', call_id: 'call-1', name: 'end_call', arguments: '{}' };
  server.send({ type: 'response.output_item.done', response_id: 'response-2', item });
  server.send({ type: 'response.done', response: { id: 'response-2', status: 'completed' } });
  await call.stream.until(() => call.stream.commands.length > 0);
  await call.hangUp();
  expect(call.sessionEvents).toEqual([]);
});

test('What the caller says while the connection is lost is heard by the ordinary recognizer', async () => {
  const { server, call } = realtimeCall({ answer: () => ({ text: 'Hello.' }) });
  await greeted(call);
  call.stream.speak(call.caller.say('What does it cost?', 1000));
  await call.stream.advance(500);
  server.close();
  await call.stream.advance(500);
  await greeted(call);
  await call.hangUp();
  expect(call.transcript()).toEqual([
    'assistant: Hello.',
    'user: What does it cost?',
    'assistant: This is the chat model.',
  ]);
});

test('A say node’s words are synthesized, and a caller cannot interrupt where it says so', async () => {
  const { server, call } = realtimeCall(
    { answer: () => ({ text: 'How can I help?' }) },
    {
      pathway: {
        nodes: [
          { id: 'start', type: 'start', data: { title: 'Start', prompt: '' } },
          {
            id: 'law',
            type: 'say',
            data: { title: 'Law', prompt: 'This call is recorded.', interruption: 'off' },
          },
          { id: 'talk', type: 'conversation', data: { title: 'Talk', prompt: 'Help.' } },
        ],
        edges: [
          { id: 'a', source: 'start', target: 'law', data: {} },
          { id: 'b', source: 'law', target: 'talk', data: {} },
        ],
      },
    },
  );
  await call.agentSpeaks();
  await call.say('', 700);
  await greeted(call);
  await call.hangUp();
  expect(call.voice.texts).toEqual(['This call is recorded.']);
  expect(call.transcript()[0]).toBe('assistant: This call is recorded.\nHow can I help?');
  expect(server.of('conversation.item.create')).toMatchObject([
    { item: { role: 'assistant', content: [{ text: 'This call is recorded.' }] } },
  ]);
});

test('DTMF digits are told the model as text', async () => {
  const { server, call } = realtimeCall({ answer: () => ({ text: 'Hello.' }) });
  await greeted(call);
  call.stream.pressDigit('4');
  call.stream.pressDigit('#');
  await greeted(call);
  await call.stream.hangUp();
  expect(server.of('conversation.item.create')).toMatchObject([
    { item: { role: 'user', content: [{ type: 'input_text', text: '4' }] } },
  ]);
});

test.each(PLACES)('engine of the %s names provider, model and voice', async (place) => {
  const server = new ScriptedRealtime({ answer: () => ({ text: 'Hello.' }) });
  const found: EngineConfig[] = [];
  const engines = server.engines();
  const engine = { provider: 'custom', model: 'model-of-mine', voice: 'voice-of-mine' } as const;
  const call = simulatedCall({
    answer: () => ({}),
    agent: { engine: place === 'agent' ? engine : ENGINE },
    pathway: nodeWith(place === 'node' ? { engine } : {}),
    engines: {
      ...engines,
      find(config) {
        found.push(config);
        return engines.find(config);
      },
    },
  });
  await greeted(call);
  await call.stream.hangUp();
  expect(found).toEqual([engine]);
});

test('A server that detects turns and answers unasked is heard as one that is asked', async () => {
  const { server, call } = realtimeCall({
    detectsTurns: true,
    answer: (index) => (index === 0 ? { text: 'Hello.' } : { isSilent: true }),
  });
  await greeted(call);
  call.stream.speak(call.caller.say('', 1000));
  await call.stream.advance(1150);
  server.answerUnasked('what does it cost', 'Ten euros.');
  await greeted(call);
  await call.hangUp();
  expect(call.transcript().slice(1)).toEqual(['user: what does it cost', 'assistant: Ten euros.']);
});

test.each([
  ['soon is not tried again in the call', 60_000, false],
  ['after a long time is made again', 3_600_000, true],
])('A connection that ends %s', async (_what, afterMs, isTried) => {
  const clock = createSimulatedClock();
  const server = new ScriptedRealtime({ answer: () => ({}) });
  const lost: string[] = [];
  const engine = new CallEngine({
    engines: server.engines(),
    sampleRateHz: 8000,
    language: () => 'en',
    transcribe: async () => ({ text: '' }),
    clock,
    onFallback: (from, to, { message }) => lost.push(`${from.name} ${to.name}: ${message}`),
  });
  expect(engine.use(ENGINE)).toBeDefined();
  await new Promise((resolve) => setImmediate(resolve));
  clock.advance(afterMs);
  server.send({ type: 'error', error: { code: 'session_expired', message: 'Its time is over.' } });
  expect(lost).toEqual([expect.stringContaining('session_expired')]);
  expect(engine.use(ENGINE) !== undefined).toBe(isTried);
  engine.close();
  expect([engine.use(ENGINE), clock.pendingTimers()]).toEqual([undefined, 0]);
});

test('A chat with the agent is the chat model’s', async () => {
  const { server, call } = realtimeCall({ answer: () => ({ text: 'Hello.' }) });
  await greeted(call);
  const chat = { projectId: PROJECT, sessionId: 'chat', channel: 'web' } as const;
  const texts: string[] = [];
  await call.memory.engine.runTurn(
    chat,
    () => ({ input: { kind: 'user_message', text: 'Hi.' } }),
    (output) => void (output.type === 'text' && texts.push(output.text)),
    new AbortController().signal,
  );
  expect(texts).toEqual(['This is the chat model.']);
  await call.stream.hangUp();
  expect(server.of('response.create')).toHaveLength(1);
});
