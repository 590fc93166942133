import { expect, test } from 'vitest';
import type { PathwayInput } from '../../../src/agents/pathway/schema/pathwaySchema.ts';
import type { Tool } from '../../../src/agents/tool.ts';
import type { ChatRequest } from '../../../src/models/ports/chatModel.ts';
import { nodeOf, type ScriptedAnswer, scriptedModel } from '../../support/scriptedModel.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { type LiveScript, ScriptedLive } from '../support/scriptedLive.ts';
import { type RealtimeScript, ScriptedRealtime } from '../support/scriptedRealtime.ts';
import { eventsOf, greeted, type SimulatedCall, simulatedCall } from '../support/simulatedCall.ts';

/** The node `price` is of the agent's engine, `date` of another, `end` of none, and `again` of the agent's. */
const PATHWAY: PathwayInput = {
  nodes: [
    { id: 'price', type: 'start', data: { title: 'price', prompt: 'Tell the price.', tools: ['tool-1'] } },
    {
      id: 'date',
      type: 'conversation',
      data: { title: 'date', prompt: 'Ask for the date.', engine: { provider: 'gemini-live' } },
    },
    {
      id: 'end',
      type: 'conversation',
      data: { title: 'end', prompt: 'Sum up for {{ name }}.', engine: null },
    },
    { id: 'again', type: 'conversation', data: { title: 'again', prompt: 'Anything else?' } },
  ],
  edges: [
    { id: 'to-date', source: 'price', target: 'date', data: { condition: 'They want to book.' } },
    { id: 'to-end', source: 'date', target: 'end', data: { condition: 'They named a date.' } },
    { id: 'to-again', source: 'end', target: 'again', data: { condition: 'They agree.' } },
  ],
};

const PRICE_TOOL = {
  id: 'tool-1',
  name: 'find_price',
  description: 'Finds a price.',
  parameters: { type: 'object', properties: {} },
} as unknown as Tool;

const move = (edge: string) => ({ name: 'move_to', arguments: { edge } });
const REALTIME: RealtimeScript = {
  answer: (index) =>
    [
      { text: 'Hello there.' },
      { calls: [{ name: 'find_price' }] },
      { text: 'Ten euros.' },
      { calls: [move('to-date')] },
      { text: 'Anything else?' },
    ][index] ?? {},
  heard: ['what does it cost', 'I am Bob and want to book'],
};
const LIVE: LiveScript = {
  answer: (index) =>
    [{ text: 'Which date?' }, { calls: [{ name: 'move_to', args: { edge: 'to-end' } }] }][index] ?? {},
  heard: ['on Friday'],
};

/** The chat model, at each node. */
function chatAnswer(request: ChatRequest): ScriptedAnswer {
  if (request.jsonSchema) return { json: { name: 'Bob' } };
  const said = request.messages.findLast(({ role }) => role === 'user')?.content ?? '';
  switch (nodeOf(request)) {
    case 'price':
      return said.includes('book') ? { calls: [move('to-date')] } : { text: 'I take over.' };
    case 'date':
      return said.includes('Friday') ? { calls: [move('to-end')] } : { text: 'Which day?' };
    default:
      return said.includes('Yes') ? { calls: [move('to-again')] } : { text: 'Bob comes on Friday.' };
  }
}

/** A call with one server for each engine. */
function callOfTwoEngines(scripts: { readonly realtime?: RealtimeScript; readonly live?: LiveScript } = {}) {
  const clock = createSimulatedClock();
  const realtime = new ScriptedRealtime(scripts.realtime ?? REALTIME);
  const live = new ScriptedLive(scripts.live ?? LIVE);
  const ends = { 'openai-realtime': realtime.engines(), 'gemini-live': live.engines(clock) };
  const call = simulatedCall({
    clock,
    pathway: PATHWAY,
    tools: [PRICE_TOOL],
    toolRunner: { run: async () => ({ ok: true, text: '{"euros":10}' }) },
    agent: {
      engine: { provider: 'openai-realtime' },
      variableConfigs: [{ name: 'name', type: 'string', description: 'The name.' }],
    },
    answer: () => ({}),
    model: scriptedModel(chatAnswer),
    engines: {
      ...ends['openai-realtime'],
      find: (config) => ends[config.provider as keyof typeof ends].find(config),
    },
  });
  return { realtime, live, call };
}

async function converse(call: SimulatedCall, ...utterances: readonly string[]): Promise<void> {
  await greeted(call);
  for (const text of utterances) {
    await call.say(text, 1000);
    await greeted(call);
  }
  await call.hangUp();
}

/** Who heard the caller, or spoke, in each message. */
const parties = ({ memory }: SimulatedCall) =>
  memory.records
    .flatMap(({ messages }) => messages)
    .flatMap(({ speech }) => speech?.recognition ?? speech?.synthesis ?? []);
const nodes = (call: SimulatedCall) => eventsOf(call, 'node_entered').map(({ nodeId }) => nodeId);

test('Two engines and the ordinary chain follow each other in a call, each told what the others heard and said', async () => {
  const { realtime, live, call } = callOfTwoEngines();
  // The engines hear what their scripts say.
  await converse(call, '', '', '', 'Yes please.');
  expect(call.transcript()).toEqual([
    'assistant: Hello there.',
    'user: what does it cost',
    'assistant: Ten euros.',
    'user: I am Bob and want to book',
    'assistant: Which date?',
    'user: on Friday',
    'assistant: Bob comes on Friday.',
    'user: Yes please.',
    'assistant: Anything else?',
  ]);
  const [first, second] = ['openai-realtime', 'gemini-live'];
  expect(parties(call).slice(0, 6)).toEqual([first, first, first, first, second, second]);
  expect(parties(call).slice(6)).toEqual([expect.stringContaining('scripted'), 'scripted', first]);
  expect(nodes(call)).toEqual(['price', 'date', 'end', 'again']);
  expect(eventsOf(call, 'tool_result')).toEqual([{ name: 'find_price', ok: true, result: '{"euros":10}' }]);
  expect(eventsOf(call, 'variable_set')).toEqual([{ name: 'name', value: 'Bob', source: 'extracted' }]);
  const [setup] = live.of('setup');
  expect(JSON.stringify(setup)).toContain('{\\"name\\":\\"Bob\\"');
  const told = JSON.stringify(live.of('clientContent'));
  for (const text of ['Hello there.', 'what does it cost', 'Ten euros.', 'I am Bob and want to book'])
    expect(told).toContain(text);
  // It was left, and is made again for the node that goes back to it.
  expect(realtime.dialed).toHaveLength(2);
  const toldAgain = JSON.stringify(realtime.of('conversation.item.create'));
  for (const text of ['Which date?', 'on Friday', 'Bob comes on Friday.', 'Yes please.'])
    expect(toldAgain).toContain(text);
  expect([call.sessionEvents, call.errors]).toEqual([[], []]);
});

test('The agent’s engine that is lost is left for the chain, and a node’s own engine still speaks there', async () => {
  const { realtime, live, call } = callOfTwoEngines();
  await greeted(call);
  realtime.close();
  await call.say('I want to book.', 1000);
  await converse(call, '');
  expect(call.transcript()).toEqual([
    'assistant: Hello there.',
    'user: I want to book.',
    'assistant: Which date?',
    'user: on Friday',
    'assistant: Bob comes on Friday.',
  ]);
  expect(nodes(call)).toEqual(['price', 'date', 'end']);
  expect(live.dialed).toHaveLength(1);
  expect(call.sessionEvents).toMatchObject([{ data: { from: 'openai-realtime', to: 'chain' } }]);
});

test('A node’s engine that is lost is left for the chain there, and the agent’s speaks again after it', async () => {
  const { realtime, live, call } = callOfTwoEngines({
    realtime: {
      ...REALTIME,
      answer: (index) =>
        [{ text: 'Hello there.' }, { calls: [move('to-date')] }, { text: 'Anything else?' }][index] ?? {},
      heard: ['I am Bob and want to book'],
    },
  });
  await greeted(call);
  await call.say('', 1000);
  await greeted(call);
  live.close();
  await call.say('On Friday.', 1000);
  await converse(call, 'Yes please.');
  expect(call.transcript().slice(3)).toEqual([
    'user: On Friday.',
    'assistant: Bob comes on Friday.',
    'user: Yes please.',
    'assistant: Anything else?',
  ]);
  expect(nodes(call)).toEqual(['price', 'date', 'end', 'again']);
  expect(realtime.dialed).toHaveLength(2);
  expect(call.sessionEvents).toMatchObject([{ data: { from: 'gemini-live', to: 'chain' } }]);
});
