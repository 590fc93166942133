import { describe, expect, test } from 'vitest';
import type { PathwayInput } from '../../../src/agents/pathway/schema/pathwaySchema.ts';
import type { Tool } from '../../../src/agents/tool.ts';
import { ModelError } from '../../../src/models/ports/modelError.ts';
import { memoryEngine } from '../../support/memoryEngine.ts';
import { scriptedModel } from '../../support/scriptedModel.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

const types = (events: readonly { type: string }[]) => events.map(({ type }) => type);

describe('Tools', () => {
  const lookUp: Tool = {
    id: '018f0000-0000-7000-8000-000000000001',
    name: 'look_up',
    description: 'Looks an order up.',
    parameters: { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] },
    http: { method: 'GET', url: 'https://example.com/', headers: [], timeoutMs: 1000 },
    createdAt: '2026-01-01T00:00:00.000Z',
    updatedAt: '2026-01-01T00:00:00.000Z',
  };
  const withTool: PathwayInput = {
    nodes: [
      {
        id: 'start',
        type: 'start',
        data: { title: 'Orders', prompt: 'Help.', tools: [lookUp.id, 'end_call', 'set_variable'] },
      },
    ],
    edges: [],
  };

  test('set variables until these have two mebibytes', async () => {
    const value = 'x'.repeat(1_000_000);
    const calls = ['a', 'b', 'c'].map((name) => ({ name: 'set_variable', arguments: { name, value } }));
    const model = scriptedModel((_request, index) => (index === 0 ? { calls } : { text: 'Noted.' }));
    const conversation = memoryEngine({ model, pathway: withTool });
    await conversation.say('Note that.');
    expect(Object.keys(conversation.session().state.variables)).toEqual(['a', 'b']);
    expect(conversation.events().filter(({ type }) => type === 'error')).toMatchObject([
      { data: { code: 'variables_too_large', name: 'c' } },
    ]);
  });

  test('are withheld from a model that keeps calling them', async () => {
    const model = scriptedModel((request) =>
      request.tools
        ? { calls: [{ name: 'look_up', arguments: { order: '7' } }] }
        : { text: 'I could not find it.' },
    );
    const conversation = memoryEngine({ model, pathway: withTool, tools: [lookUp] });
    expect(await conversation.say('Where?')).toBe('I could not find it.');
    expect(model.requests.length).toBe(9);
  });

  test('called without an offer fail the turn, and the conversation continues', async () => {
    const model = scriptedModel((_request, index) =>
      index < 9 ? { calls: [{ name: 'look_up', arguments: { order: '7' } }] } : { text: 'Here I am.' },
    );
    const conversation = memoryEngine({ model, pathway: withTool, tools: [lookUp] });
    await expect(conversation.say('Where?')).rejects.toMatchObject({
      code: 'model_malformed',
      beforeFirstToken: true,
    });
    expect(conversation.events().find(({ type }) => type === 'error')?.data.code).toBe('model_malformed');
    expect(await conversation.say('Where?')).toBe('Here I am.');
  });

  test('that ran before the model failed are in the history', async () => {
    const model = scriptedModel((_request, index) =>
      index === 0
        ? { calls: [{ name: 'look_up', arguments: { order: '7' } }] }
        : { fail: new ModelError('model_unavailable', 'Away', { beforeFirstToken: true }) },
    );
    const conversation = memoryEngine({ model, pathway: withTool, tools: [lookUp] });
    await expect(conversation.say('Where?')).rejects.toMatchObject({ code: 'model_unavailable' });
    expect(conversation.session().state.messages).toEqual([]);
    expect(types(conversation.events())).toEqual(['session_started', 'tool_called', 'tool_result', 'error']);
  });

  test.each([
    ['An unknown tool', 'no_such_tool', '{}'],
    ['Malformed JSON arguments', 'set_variable', '{"name":'],
    ['Arguments that violate the schema', 'set_variable', '{"value":1}'],
  ])('%s: the model is told, and the conversation continues', async (_name, name, args) => {
    const model = scriptedModel((_request, index) =>
      index === 0 ? { calls: [{ name, arguments: args }] } : { text: 'Never mind.' },
    );
    const conversation = memoryEngine({ model, pathway: withTool, tools: [lookUp] });
    expect(await conversation.say('Hi')).toBe('Never mind.');
    expect(conversation.events().find(({ type }) => type === 'tool_result')?.data.ok).toBe(false);
  });

  test('end_call ends the session after the answer', async () => {
    const model = scriptedModel(() => ({ text: 'Goodbye.', calls: [{ name: 'end_call' }] }));
    const conversation = memoryEngine({ model, pathway: withTool, tools: [lookUp] });
    const outputs = await conversation.turn({ kind: 'user_message', text: 'Bye' });
    expect(outputs.at(-1)).toMatchObject({ ended: 'end_call_tool' });
    expect(conversation.endings.length).toBe(1);
  });

  test('of the client are returned as calls, and their results are answered', async () => {
    const callerTools = [{ name: 'weather', parameters: { type: 'object' } }];
    const model = scriptedModel((request) =>
      request.messages.some(({ role }) => role === 'tool')
        ? { text: 'It is sunny.' }
        : { calls: [{ name: 'weather', arguments: { city: 'Taipei' } }] },
    );
    const conversation = memoryEngine({ model, pathway: withTool, tools: [lookUp] });
    const outputs = await conversation.turn({ kind: 'user_message', text: 'Weather?' }, { callerTools });
    const call = outputs.find((output) => output.type === 'tool_call');
    expect(call).toMatchObject({
      index: 0,
      call: { type: 'function', function: { name: 'weather', arguments: '{"city":"Taipei"}' } },
    });
    expect(outputs.at(-1)).toMatchObject({ finishReason: 'tool_calls' });
    const called = { name: 'weather', arguments: '{"city":"Taipei"}', by: 'caller' };
    expect(conversation.events().at(-1)).toMatchObject({ type: 'tool_called', data: called });
    const [pending] = conversation.session().state.pendingToolCalls;
    const results = [{ toolCallId: pending?.id ?? '', name: 'weather', content: 'sun' }];
    const answer = await conversation.turn({ kind: 'tool_results', results }, { callerTools });
    expect(answer).toContainEqual({ type: 'text', text: 'It is sunny.' });
    expect(conversation.session().state.pendingToolCalls).toEqual([]);
  });
});

describe('While a tool runs', () => {
  const tool = {
    id: 'tool-1',
    name: 'look_up',
    description: '',
    parameters: { type: 'object' },
    http: { method: 'GET', url: 'https://example.com/', headers: [], timeoutMs: 9_000 },
    createdAt: '',
    updatedAt: '',
  } satisfies Tool;
  const nodes = [
    { id: 'start', type: 'start' as const, data: { title: 'T', prompt: 'Help.', tools: ['tool-1'] } },
  ];
  const placeholderMessages = { fr: [], en: ['Hm.', 'So.'], de: ['Tja.'] };

  test.each<[string, Tool['speakWhile'], number, Record<string, unknown>, string]>([
    [
      'its own line is said after 1.2 s',
      'Looking for {{ what }}.',
      1_200,
      { what: 'a room' },
      'Looking for a room.',
    ],
    ['nothing is said before', 'Looking.', 1_199, {}, ''],
    [
      'its line is in the language of the conversation',
      { en: 'Wait.', de: 'Moment.' },
      1_200,
      { language: 'de-AT' },
      'Moment.',
    ],
    [
      'its first line is said where it has none in the language',
      { de: 'Moment.', es: 'Un momento.' },
      1_200,
      { language: 'fr' },
      'Moment.',
    ],
    ['the agent’s filler is said where it has no line', undefined, 1_200, {}, 'Hm.'],
    [
      'the agent’s filler is in the language of the conversation',
      undefined,
      1_200,
      { language: 'de' },
      'Tja.',
    ],
    ['the first filler there is, for another language', undefined, 1_200, { language: 'fr' }, 'Hm.'],
  ])('%s', async (_what, speakWhile, tookMs, variables, expected) => {
    const clock = createSimulatedClock();
    const conversation = memoryEngine({
      model: scriptedModel((_request, index) =>
        index === 0 ? { calls: [{ name: 'look_up' }] } : { text: ' Done.' },
      ),
      pathway: { nodes, edges: [] },
      tools: [{ ...tool, ...(speakWhile ? { speakWhile } : {}) }],
      agent: { placeholderMessages },
      clock,
      toolRunner: {
        async run() {
          await new Promise(setImmediate);
          clock.advance(tookMs);
          await new Promise(setImmediate);
          return { ok: true, text: 'ok' };
        },
      },
    });
    expect((await conversation.say('Hi', { variables })).replace(/\s*Done\.$/, '')).toBe(expected);
    expect(clock.pendingTimers()).toBe(0);
  });
});

test('A model that called tools gets its own words and the results', async () => {
  const model = scriptedModel((request) =>
    request.messages.at(-1)?.role === 'tool'
      ? { text: 'It is noted.' }
      : { text: 'Let me see.', calls: [{ name: 'query_knowledgebase', arguments: { query: 'x' } }] },
  );
  const conversation = memoryEngine({
    model,
    pathway: {
      nodes: [
        { id: 'start', type: 'start', data: { title: 'S', prompt: 'Help.', tools: ['query_knowledgebase'] } },
      ],
      edges: [],
    },
  });
  expect(await conversation.say('Hi')).toBe('Let me see.\nIt is noted.');
  expect(model.requests[1]?.messages.slice(1)).toMatchObject([
    { role: 'system' },
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'Let me see.', toolCalls: [{ name: 'query_knowledgebase' }] },
    { role: 'tool' },
  ]);
});
