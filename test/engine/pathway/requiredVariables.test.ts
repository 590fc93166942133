import { describe, expect, test } from 'vitest';
import type { AgentConfig } from '../../../src/agents/agentConfig.ts';
import type { PathwayInput } from '../../../src/agents/pathway/schema/pathwaySchema.ts';
import { memoryEngine } from '../../support/memoryEngine.ts';
import { edgesOf, nodeOf, type ScriptedAnswer, scriptedModel } from '../../support/scriptedModel.ts';

const MODES = ['smart', 'balance', 'turbo'] as const;
const REQUIRED: NonNullable<AgentConfig['variableConfigs']> = [
  { name: 'orderNumber', type: 'string', description: 'The number of the order', required: true },
];

/** `start` leads by a sentence to `ask`, `ask` on to `next`, and `next` to the end. */
const pathwayOf = (askPrompt: string, bye = ''): PathwayInput => ({
  nodes: [
    { id: 'start', type: 'start', data: { title: 'start', prompt: 'Greet.' } },
    { id: 'ask', type: 'conversation', data: { title: 'ask', prompt: askPrompt } },
    { id: 'next', type: 'conversation', data: { title: 'next', prompt: 'Talk.' } },
    { id: 'bye', type: 'end', data: { title: 'bye', prompt: bye } },
  ],
  edges: [
    { id: 'wants', source: 'start', target: 'ask', data: { condition: 'The person has an order.' } },
    { id: 'on', source: 'ask', target: 'next', data: { condition: 'The person has said all.' } },
    { id: 'over', source: 'next', target: 'bye', data: { condition: 'The person is done.' } },
  ],
});

/** Takes every sentence, extracts digits, and asks for what it is told to ask for. */
function model(value: () => string | null) {
  return scriptedModel((request): ScriptedAnswer => {
    const text = JSON.stringify(request.messages);
    const [edge = null] = edgesOf(request);
    if (request.purpose === 'extract') return { json: { orderNumber: value() } };
    if (request.purpose === 'route') return { json: { edge } };
    if (request.purpose === 'answer_and_route') return { calls: [{ name: 'move_to', arguments: { edge } }] };
    return { text: text.includes('ask the person for this') ? 'asks' : `as ${nodeOf(request)}` };
  });
}

const conversationIn = (
  executionMode: (typeof MODES)[number],
  pathway: PathwayInput,
  value: () => string | null,
) => memoryEngine({ model: model(value), pathway, agent: { executionMode, variableConfigs: REQUIRED } });

describe.each(MODES)('In %s a missing required variable', (mode) => {
  test('is asked for before the pathway goes past the node that names it', async () => {
    let value: string | null = null;
    const conversation = conversationIn(mode, pathwayOf('Ask for the order number.'), () => value);
    await conversation.turn({ kind: 'begin' });
    expect(await conversation.say('My parcel is late')).toBe('as ask');
    expect(await conversation.say('It really is')).toBe('asks');
    expect(conversation.session().state.currentNodeId).toBe('ask');
    value = '4711';
    expect(await conversation.say('4711')).toBe('as next');
    expect(conversation.session().state.variables).toEqual({ orderNumber: '4711' });
  });

  test('is asked for twice; then the conversation goes on, and its end names it', async () => {
    const conversation = conversationIn(mode, pathwayOf('Ask for {{ orderNumber }}.'), () => null);
    await conversation.turn({ kind: 'begin' });
    const answers = [];
    for (const words of ['Hi', 'No', 'Never', 'I said no']) answers.push(await conversation.say(words));
    expect(answers).toEqual(['as ask', 'asks', 'asks', 'as next']);
    await conversation.say('Bye');
    expect(conversation.endings).toMatchObject([{ reason: 'end_node', missingVariables: ['orderNumber'] }]);
  });

  test('that no node names is asked for before the end', async () => {
    let value: string | null = null;
    const conversation = conversationIn(mode, pathwayOf('Listen.'), () => value);
    await conversation.turn({ kind: 'begin' });
    const answers = [];
    for (const words of ['Hi', 'Well', 'Bye']) answers.push(await conversation.say(words));
    expect(answers).toEqual(['as ask', 'as next', 'asks']);
    value = '4711';
    await conversation.say('4711');
    expect(conversation.endings).toMatchObject([{ reason: 'end_node', missingVariables: [] }]);
  });
});

test('A line that uses a required variable waits for it', async () => {
  let value: string | null = null;
  const pathway = pathwayOf('Listen.', '');
  const nodes = pathway.nodes.map((node) =>
    node.id === 'next'
      ? { id: 'next', type: 'say' as const, data: { title: 'next', prompt: 'Order {{ orderNumber }}.' } }
      : node,
  );
  const conversation = conversationIn('balance', { ...pathway, nodes }, () => value);
  await conversation.turn({ kind: 'begin' });
  await conversation.say('Hi');
  expect(await conversation.say('That is all')).toBe('asks');
  value = '12';
  expect(await conversation.say('12')).toBe('Order 12.');
});

test('The model cannot end a conversation without having asked', async () => {
  const pathway: PathwayInput = {
    nodes: [{ id: 'start', type: 'start', data: { title: 'Talk', prompt: 'Talk.', tools: ['end_call'] } }],
    edges: [],
  };
  const calls = [{ name: 'end_call' }];
  const scripted = scriptedModel(({ purpose, messages }) => {
    if (purpose === 'extract') return { json: { orderNumber: null } };
    const last = messages.findLast(({ role }) => role !== 'system');
    return last?.role === 'tool' ? { text: 'Your order number?' } : { text: 'Bye.', calls };
  });
  const conversation = memoryEngine({ model: scripted, pathway, agent: { variableConfigs: REQUIRED } });
  expect(await conversation.say('Bye')).toBe('Bye.\nYour order number?');
  expect(conversation.events().find(({ type }) => type === 'tool_result')?.data).toMatchObject({
    ok: false,
    result: expect.stringContaining('orderNumber: The number of the order'),
  });
  await conversation.say('No');
  expect(conversation.endings).toEqual([]);
  await conversation.say('Bye now');
  expect(conversation.endings).toMatchObject([{ missingVariables: ['orderNumber'] }]);
});
