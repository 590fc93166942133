import { expect, test } from 'vitest';
import type { PathwayInput } from '../../../src/agents/pathway/schema/pathwaySchema.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { type LiveScript, ScriptedLive } from '../support/scriptedLive.ts';
import { eventsOf, greeted, type SimulatedCallOptions, simulatedCall } from '../support/simulatedCall.ts';

const PATHWAY: PathwayInput = {
  nodes: [
    { id: 'start', type: 'start', data: { title: 'Greet', prompt: 'Greet them.', tools: ['set_variable'] } },
    { id: 'book', type: 'conversation', data: { title: 'Book', prompt: 'Ask for the date.' } },
  ],
  edges: [
    { id: 'wants-booking', source: 'start', target: 'book', data: { condition: 'They want to book.' } },
  ],
};

function liveCall(script: LiveScript, more: Partial<SimulatedCallOptions> = {}) {
  const clock = createSimulatedClock();
  const server = new ScriptedLive(script);
  const call = simulatedCall({
    clock,
    answer: () => ({ text: 'This is the chat model.' }),
    pathway: PATHWAY,
    agent: { engine: { provider: 'gemini-live' } },
    engines: server.engines(clock),
    ...more,
  });
  return { server, call };
}

test('Gemini greets, hears and answers by the Live API', async () => {
  const { server, call } = liveCall({
    answer: (index) => ({ text: ['Hello there.', 'Ten euros.'][index] ?? '' }),
    heard: ['what does it cost'],
  });
  await greeted(call);
  await call.say('', 1000);
  await greeted(call);
  await call.hangUp();
  expect(server.dialed).toEqual([
    'wss://live.example/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent?key=secret-key',
  ]);
  expect(server.of('setup')).toMatchObject([
    {
      model: 'models/gemini-3.8-live',
      generationConfig: {
        responseModalities: ['AUDIO'],
        speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
      },
      systemInstruction: { parts: [{ text: expect.stringContaining('Greet them.') }] },
      tools: [{ functionDeclarations: [{ name: 'move_to' }, { name: 'set_variable' }] }],
      realtimeInputConfig: { automaticActivityDetection: { disabled: true } },
    },
  ]);
  expect(server.kinds()).toEqual(['setup', 'clientContent', 'activityStart', 'activityEnd']);
  expect(call.transcript()).toEqual([
    'assistant: Hello there.',
    'user: what does it cost',
    'assistant: Ten euros.',
  ]);
});

test('A move opens a session with the next node’s prompt and tools, which is told the conversation', async () => {
  const { server, call } = liveCall({
    answer: (index) =>
      [
        { text: 'Hello.' },
        { calls: [{ name: 'move_to', args: { edge: 'wants-booking' } }] },
        { text: 'Which date?' },
      ][index] ?? {},
    heard: ['I want to book'],
  });
  await greeted(call);
  await call.say('', 1000);
  await greeted(call);
  await call.hangUp();
  expect(server.dialed).toHaveLength(2);
  expect(server.of('setup')[1]).toMatchObject({
    systemInstruction: { parts: [{ text: expect.stringContaining('Ask for the date.') }] },
  });
  expect(server.of('clientContent').at(-1)).toEqual({
    turns: [
      { role: 'model', parts: [{ text: 'Hello.' }] },
      { role: 'user', parts: [{ text: 'I want to book' }] },
    ],
    turnComplete: true,
  });
  expect(call.transcript().slice(1)).toEqual(['user: I want to book', 'assistant: Which date?']);
  expect(eventsOf(call, 'node_entered').map(({ nodeId }) => nodeId)).toEqual(['start', 'book']);
});

test('Results of tools are tool responses, and the same session goes on', async () => {
  const { server, call } = liveCall({
    answer: (index) =>
      [
        { text: 'Hello.' },
        { calls: [{ name: 'set_variable', args: { name: 'city', value: 'Graz' } }] },
        { text: 'Noted.' },
      ][index] ?? {},
    heard: ['I live in Graz'],
  });
  await greeted(call);
  await call.say('', 1000);
  await greeted(call);
  await call.hangUp();
  expect(eventsOf(call, 'variable_set')).toMatchObject([{ name: 'city', value: 'Graz' }]);
  expect(server.dialed).toHaveLength(1);
  expect(server.of('toolResponse')).toEqual([
    { functionResponses: [{ id: 'call-2-0', name: 'set_variable', response: { output: 'Noted.' } }] },
  ]);
  expect(call.transcript().slice(1)).toEqual(['user: I live in Graz', 'assistant: Noted.']);
});

test('An interruption stops the model, which is told what was heard', async () => {
  const { server, call } = liveCall({
    answer: (index) =>
      [{ text: 'One two three four five six.', goesOn: true }, { text: 'Of course.' }][index] ?? {},
    heard: ['something else please'],
  });
  await call.agentSpeaks();
  await call.stream.advance(600);
  expect(server.kinds()).not.toContain('activityStart');
  await call.say('', 1000);
  await greeted(call);
  await call.hangUp();
  const [heard] = eventsOf(call, 'barge_in').map(({ heardText }) => heardText);
  expect(heard).toBe('One two three');
  expect(JSON.stringify(server.of('clientContent').at(-1))).toContain(
    `heard no more of your last words than: “${heard}”`,
  );
  expect(call.transcript()).toEqual([
    'assistant: One two three',
    'user: something else please',
    'assistant: Of course.',
  ]);
});

test('A connection that is about to end is made again for the next answer', async () => {
  const { server, call } = liveCall({
    answer: (index) => ({ text: ['Hello.', 'Ten euros.'][index] ?? '' }),
    heard: ['what does it cost'],
  });
  await greeted(call);
  server.send({ goAway: { timeLeft: '10s' } });
  server.close(1001);
  await call.say('', 1000);
  await greeted(call);
  await call.hangUp();
  expect(server.dialed).toHaveLength(2);
  expect(call.sessionEvents).toEqual([]);
  expect(call.transcript().at(-1)).toBe('assistant: Ten euros.');
});
