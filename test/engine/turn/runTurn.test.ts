import { describe, expect, test } from 'vitest';
import type { PathwayInput } from '../../../src/agents/pathway/schema/pathwaySchema.ts';
import { ModelError } from '../../../src/models/ports/modelError.ts';
import { memoryEngine, PROJECT } from '../../support/memoryEngine.ts';
import { nodeOf, scriptedModel } from '../../support/scriptedModel.ts';
import { pathway } from './support/bookingPathway.ts';

describe('The balance mode', () => {
  test('answers and takes an edge in one request', async () => {
    const model = scriptedModel((_request, index) =>
      index === 0
        ? { text: 'Hello!' }
        : { text: 'Which day?', calls: [{ name: 'move_to', arguments: { edge: 'wants' } }] },
    );
    const conversation = memoryEngine({ model, pathway });
    expect(await conversation.say('Hi', { variables: { name: 'Ann' } })).toBe('Hello!');
    expect(conversation.session().state).toMatchObject({ currentNodeId: 'start', hasSpoken: true });
    expect(await conversation.say('I want to book')).toBe('Which day?');
    expect(conversation.session().state).toMatchObject({ currentNodeId: 'book', hasSpoken: true });
    expect(model.requests.length).toBe(2);
    expect(model.requests[1]?.model).toBe('m-balance');
  });

  test('speaks the target of an edge that was taken without words', async () => {
    const model = scriptedModel((_request, index) =>
      index === 0 ? { calls: [{ name: 'move_to', arguments: { edge: 'wants' } }] } : { text: 'Which day?' },
    );
    const conversation = memoryEngine({ model, pathway });
    expect(await conversation.say('I want to book')).toBe('Which day?');
    expect(model.requests[1] && nodeOf(model.requests[1])).toBe('Booking');
  });

  test('says a say node verbatim without the model, and ends the session at an end node', async () => {
    const model = scriptedModel(
      (_request, index) =>
        [
          { text: 'Hello.' },
          { calls: [{ name: 'move_to', arguments: { edge: 'wants' } }] },
          { text: 'Which day?' },
          { calls: [{ name: 'move_to', arguments: { edge: 'done' } }] },
        ][index] ?? {},
    );
    const conversation = memoryEngine({ model, pathway });
    await conversation.say('Hi', { variables: { name: 'Ann' } });
    await conversation.say('Book please');
    const outputs = await conversation.turn({ kind: 'user_message', text: 'Monday' });
    expect(outputs).toContainEqual({ type: 'text', text: 'Thank you, Ann.' });
    expect(outputs.at(-1)).toMatchObject({ type: 'done', ended: 'end_node', finishReason: 'stop' });
    expect(conversation.sessions.size).toBe(0);
    expect(conversation.endings[0]).toMatchObject({
      reason: 'end_node',
      expected: ['session.ended', 'session.finalized'],
    });
    expect(model.requests.length).toBe(4);
  });

  test('ignores an edge that was not offered', async () => {
    const model = scriptedModel(() => ({
      text: 'Hm.',
      calls: [{ name: 'move_to', arguments: { edge: 'nowhere' } }],
    }));
    const conversation = memoryEngine({ model, pathway });
    expect(await conversation.say('Hi')).toBe('Hm.');
    expect(conversation.session().state.currentNodeId).toBe('start');
  });
});

test('The smart mode selects the edge in a request before the answer', async () => {
  const model = scriptedModel((request) =>
    request.jsonSchema ? { json: { edge: 'wants' } } : { text: nodeOf(request) ?? '' },
  );
  const conversation = memoryEngine({ model, pathway, agent: { executionMode: 'smart' } });
  const outputs = await conversation.turn({ kind: 'user_message', text: 'I want to book' });
  expect(outputs).toContainEqual({ type: 'text', text: 'Booking' });
  const usage = { modelCalls: 2, promptTokens: 20, completionTokens: 4, totalTokens: 24 };
  expect(outputs.at(-1)).toMatchObject({ usage, model: 'm-smart' });
  expect(model.requests.map(({ model: name, purpose }) => [name, purpose])).toEqual([
    ['m-smart', 'route'],
    ['m-smart', 'answer'],
  ]);
});

test('The turbo mode answers without waiting for the edge selection', async () => {
  let judge = () => {};
  const after = new Promise<void>((resolve) => {
    judge = resolve;
  });
  const model = scriptedModel((request) =>
    request.jsonSchema ? { json: { edge: 'wants' }, after } : { text: 'Sure.' },
  );
  const conversation = memoryEngine({ model, pathway, agent: { executionMode: 'turbo' } });
  const heard: string[] = [];
  await conversation.engine.runTurn(
    { projectId: PROJECT, sessionId: 's', channel: 'chat' },
    () => ({ input: { kind: 'user_message', text: 'I want to book' } }),
    (output) => {
      if (output.type !== 'text') return undefined;
      heard.push(output.text);
      judge();
      return undefined;
    },
    new AbortController().signal,
  );
  expect(heard).toEqual(['Sure.']);
  expect(conversation.session().state.messages.at(-1)).toMatchObject({ content: 'Sure.', nodeId: 'start' });
  expect(conversation.session().state).toMatchObject({ currentNodeId: 'book', hasSpoken: false });
});

describe('Variable extraction', () => {
  const variableConfigs = [{ name: 'age', type: 'number' as const, description: 'The person’s age.' }];
  const gate: PathwayInput = {
    nodes: [
      { id: 'start', type: 'start', data: { title: 'Age', prompt: 'Ask for the age.' } },
      { id: 'adult', type: 'say', data: { title: 'Adult', prompt: 'Welcome, {{ age }}.' } },
    ],
    edges: [
      { id: 'e', source: 'start', target: 'adult', data: { condition: { '>=': [{ var: 'age' }, 18] } } },
    ],
  };

  test('decides the next edge', async () => {
    const model = scriptedModel((request) =>
      request.purpose === 'extract' ? { json: { age: '20' } } : { text: 'How old?' },
    );
    const conversation = memoryEngine({ model, pathway: gate, agent: { variableConfigs } });
    expect(await conversation.say('I am 20')).toBe('Welcome, 20.');
    expect(conversation.session().state.variables).toEqual({ age: 20 });
  });

  test.each(['smart', 'balance', 'turbo'] as const)(
    'is waited for by the line of the node that an edge leads to, in %s',
    async (executionMode) => {
      const edge = { id: 'e', source: 'start', target: 'adult', data: { condition: 'They told their age.' } };
      let extract = () => {};
      const after = new Promise<void>((resolve) => {
        extract = resolve;
      });
      const model = scriptedModel(({ purpose, tools }) => {
        if (purpose === 'extract') return { json: { age: 20 }, after };
        // The value comes once the edge is decided.
        setImmediate(extract);
        if (tools?.length) return { calls: [{ name: 'move_to', arguments: { edge: 'e' } }] };
        return purpose === 'route' ? { json: { edge: 'e' } } : { text: '' };
      });
      const agent = { variableConfigs, executionMode };
      const conversation = memoryEngine({ model, pathway: { ...gate, edges: [edge] }, agent });
      expect(await conversation.say('I am 20')).toBe('Welcome, 20.');
    },
  );

  test.each([
    ['malformed JSON', { text: 'sorry' }],
    ['a failing model', { fail: new ModelError('model_unavailable', 'away', { beforeFirstToken: true }) }],
  ])('leaves variables unset after %s, and the conversation continues', async (_name, answer) => {
    const model = scriptedModel((request) => (request.purpose === 'extract' ? answer : { text: 'How old?' }));
    const conversation = memoryEngine({ model, pathway: gate, agent: { variableConfigs } });
    expect(await conversation.say('Hm')).toBe('How old?');
    expect(conversation.events().find(({ type }) => type === 'error')?.data.code).toBe('extraction_failed');
  });
});

test('The client’s model settings apply to answers, not to the engine’s own questions', async () => {
  const model = scriptedModel((request) => (request.jsonSchema ? { json: { edge: null } } : { text: '{}' }));
  const conversation = memoryEngine({ model, pathway, agent: { executionMode: 'smart' } });
  const settings = {
    responseFormat: { type: 'json_object' },
    parallelToolCalls: false,
    temperature: 0.3,
  } as const;
  await conversation.say('Hi', settings);
  const [route, answer] = model.requests;
  expect(answer).toMatchObject(settings);
  expect(route).not.toHaveProperty('responseFormat');
  expect(route).not.toHaveProperty('parallelToolCalls');
});

test('A node without a prompt is passed by its unconditional edge', async () => {
  const model = scriptedModel((request) => ({ text: nodeOf(request) ?? '' }));
  const conversation = memoryEngine({
    model,
    pathway: {
      nodes: [
        { id: 'start', type: 'start', data: { title: 'S' } },
        { id: 'help', type: 'conversation', data: { title: 'help', prompt: 'Help.' } },
      ],
      edges: [{ id: '1', source: 'start', target: 'help' }],
    },
  });
  expect(await conversation.say('Hi')).toBe('help');
});

test('The start of the prompt stays the same from turn to turn, and the user message is last', async () => {
  const model = scriptedModel(() => ({ text: 'Yes.' }));
  const conversation = memoryEngine({
    model,
    pathway,
    agent: { globalPrompt: 'You work for {{ company }}.' },
  });
  await conversation.say('One', { variables: { company: 'Acme' } });
  await conversation.say('Two');
  await conversation.say('Three');
  const [first, second, third] = model.requests.map(({ messages }) => messages);
  const roles = ['system', 'user', 'assistant', 'system', 'user'];
  expect(second?.map(({ role }) => role)).toEqual(roles);
  expect(second?.at(-1)).toEqual({ role: 'user', content: 'Two' });
  expect(second?.[0]).toEqual(first?.[0]);
  expect(third?.slice(0, 3)).toEqual(second?.slice(0, 3));
});

test('The prompt of a second step in the same turn is last', async () => {
  const model = scriptedModel(() => ({ text: 'And you?' }));
  const conversation = memoryEngine({
    model,
    pathway: {
      nodes: [
        { id: 'start', type: 'start', data: { title: 'S' } },
        { id: 'hello', type: 'say', data: { title: 'H', prompt: 'Hello.' } },
        { id: 'ask', type: 'conversation', data: { title: 'A', prompt: 'Ask.' } },
      ],
      edges: [
        { id: '1', source: 'start', target: 'hello' },
        { id: '2', source: 'hello', target: 'ask' },
      ],
    },
  });
  await conversation.say('Hi');
  expect(model.requests[0]?.messages.map(({ role }) => role)).toEqual([
    'system',
    'user',
    'assistant',
    'system',
  ]);
});

describe('A thought of which the end alone is marked', () => {
  const answered = () =>
    scriptedModel(({ purpose }) =>
      purpose === 'route'
        ? { thought: '{"edge": "done"}? No: ', json: { edge: 'wants' } }
        : { thought: 'The plan.', text: ['Which', ' day?'] },
    );

  test('is not in a whole answer, nor stored', async () => {
    const conversation = memoryEngine({ model: answered(), pathway });
    expect(await conversation.say('Hi', { isWhole: true })).toBe('Which day?');
    expect(JSON.stringify(conversation.session().state.messages)).not.toContain('plan');
  });

  test('is not read for the JSON after it', async () => {
    const conversation = memoryEngine({ model: answered(), pathway, agent: { executionMode: 'smart' } });
    await conversation.say('Hi', { isWhole: true });
    await conversation.say('I want to book', { isWhole: true });
    expect(conversation.session().state.currentNodeId).toBe('book');
  });
});

test('A whole answer comes in one piece, and its tools run', async () => {
  const model = scriptedModel((_request, index) =>
    index === 0
      ? { text: ['One ', 'moment.'], calls: [{ name: 'move_to', arguments: { edge: 'wants' } }] }
      : { text: 'Which day?' },
  );
  const conversation = memoryEngine({ model, pathway });
  const outputs = await conversation.turn(
    { kind: 'user_message', text: 'I want to book' },
    { isWhole: true },
  );
  expect(outputs.flatMap((one) => (one.type === 'text' ? [one.text] : []))[0]).toBe('One moment.');
  expect(conversation.session().state.currentNodeId).toBe('book');
});
