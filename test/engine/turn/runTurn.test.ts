import { describe, expect, test, vi } from 'vitest';
import type { PathwayInput } from '../../../src/agents/pathway/schema/pathwaySchema.ts';
import type { Tool } from '../../../src/agents/tool.ts';
import type { TurnOutput } from '../../../src/engine/turn/turn.ts';
import { ModelError } from '../../../src/providers/ports/modelError.ts';
import { memoryEngine, PROJECT } from '../../support/memoryEngine.ts';
import { nodeOf, scriptedModel } from '../../support/scriptedModel.ts';

const pathway: PathwayInput = {
  nodes: [
    { id: 'start', type: 'start', data: { title: 'Greeting', prompt: 'Greet {{ name }}.' } },
    { id: 'book', type: 'conversation', data: { title: 'Booking', prompt: 'Ask for a day.' } },
    { id: 'thanks', type: 'say', data: { title: 'Thanks', prompt: 'Thank you, {{ name }}.' } },
    { id: 'bye', type: 'end', data: { title: 'Bye' } },
  ],
  edges: [
    { id: 'wants', source: 'start', target: 'book', data: { condition: 'The person wants to book.' } },
    { id: 'done', source: 'book', target: 'thanks', data: { condition: 'The person named a day.' } },
    { id: 'over', source: 'thanks', target: 'bye' },
  ],
};

const types = (events: readonly { type: string }[]) => events.map(({ type }) => type);

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
    expect(model.requests[1] && nodeOf(model.requests[1])).toBe('book');
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
    const outputs = await conversation.turn({ kind: 'words', text: 'Monday' });
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
  expect(await conversation.say('I want to book')).toBe('book');
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
    () => ({ input: { kind: 'words', text: 'I want to book' } }),
    (output) => {
      if (output.type !== 'text') return undefined;
      heard.push(output.text);
      judge();
      return undefined;
    },
    new AbortController().signal,
  );
  expect(heard).toEqual(['Sure.']);
  expect(conversation.session().state).toMatchObject({ currentNodeId: 'book', hasSpoken: false });
});

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

  test('return their result to the model, which answers with it', async () => {
    const model = scriptedModel((_request, index) =>
      index === 0
        ? { calls: [{ name: 'look_up', arguments: { order: '7' } }] }
        : { text: 'It is on its way.' },
    );
    const ran: string[] = [];
    const toolRunner = {
      run: async (tool: Tool, args: string) => {
        ran.push(`${tool.name} ${args}`);
        return { ok: true, text: '{"status":"sent"}' };
      },
    };
    const conversation = memoryEngine({ model, pathway: withTool, tools: [lookUp], toolRunner });
    expect(await conversation.say('Where is order 7?')).toBe('It is on its way.');
    expect(ran).toEqual(['look_up {"order":"7"}']);
    expect(
      model.requests[1]?.messages.some(
        (message) => message.role === 'tool' && message.content.includes('sent'),
      ),
    ).toBe(true);
    expect(types(conversation.events())).toEqual([
      'session_started',
      'node_entered',
      'tool_called',
      'tool_result',
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
    const outputs = await conversation.turn({ kind: 'words', text: 'Bye' });
    expect(outputs.at(-1)).toMatchObject({ ended: 'end_call_tool' });
    expect(conversation.endings.length).toBe(1);
  });

  test('end_call leaves a newer session with the same id alive', async () => {
    const model = scriptedModel(() => ({ text: 'Goodbye.', calls: [{ name: 'end_call' }] }));
    const conversation = memoryEngine({
      model,
      pathway: withTool,
      wrapSessions: (sessions) => ({
        ...sessions,
        async saveTurn(session, record) {
          await sessions.saveTurn(session, record);
          conversation.sessions.set('s', { ...session, instanceId: 'another', turn: 0 });
        },
      }),
    });
    await conversation.turn({ kind: 'words', text: 'Bye' });
    expect(conversation.session().instanceId).toBe('another');
    expect(conversation.endings).toEqual([]);
  });

  test('of the client are returned as calls, and their results are answered', async () => {
    const callerTools = [{ name: 'weather', parameters: { type: 'object' } }];
    const model = scriptedModel((request) =>
      request.messages.some(({ role }) => role === 'tool')
        ? { text: 'It is sunny.' }
        : { calls: [{ name: 'weather', arguments: { city: 'Taipei' } }] },
    );
    const conversation = memoryEngine({ model, pathway: withTool, tools: [lookUp] });
    const outputs = await conversation.turn({ kind: 'words', text: 'Weather?' }, { callerTools });
    const call = outputs.find((output) => output.type === 'tool_call');
    expect(call).toMatchObject({
      index: 0,
      call: { type: 'function', function: { name: 'weather', arguments: '{"city":"Taipei"}' } },
    });
    expect(outputs.at(-1)).toMatchObject({ finishReason: 'tool_calls' });
    const [pending] = conversation.session().state.pendingToolCalls;
    const results = [{ toolCallId: pending?.id ?? '', name: 'weather', content: 'sun' }];
    const answer = await conversation.turn({ kind: 'tool_results', results }, { callerTools });
    expect(answer).toContainEqual({ type: 'text', text: 'It is sunny.' });
    expect(conversation.session().state.pendingToolCalls).toEqual([]);
  });
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

describe('endIdle', () => {
  const idle = (conversation: ReturnType<typeof memoryEngine>) => {
    const { projectId, sessionId, instanceId, turn } = conversation.session();
    return { projectId, sessionId, instanceId, turn };
  };
  const idling = async () => {
    const conversation = memoryEngine({ model: scriptedModel(() => ({ text: 'Hello.' })), pathway });
    await conversation.say('Hi');
    return conversation;
  };

  test('ends an unchanged idle session', async () => {
    const conversation = await idling();
    expect(await conversation.engine.endIdle(idle(conversation))).toBe(true);
    expect(conversation.sessions.size).toBe(0);
    expect(conversation.endings).toMatchObject([{ reason: 'idle' }]);
  });

  test('leaves a session alive that ran a turn meanwhile', async () => {
    const conversation = await idling();
    const found = idle(conversation);
    await conversation.say('Still here');
    expect(await conversation.engine.endIdle(found)).toBe(false);
    expect(conversation.session().turn).toBe(2);
    expect(conversation.endings).toEqual([]);
  });

  test('leaves a newer session with the same id alive', async () => {
    const conversation = await idling();
    const found = { ...idle(conversation), instanceId: 'another' };
    expect(await conversation.engine.endIdle(found)).toBe(false);
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

describe('Failures', () => {
  const away = new ModelError('model_unavailable', 'The model is away', { beforeFirstToken: true });

  test('A model that fails before its first word leaves the conversation unchanged', async () => {
    const model = scriptedModel((_request, index) => (index === 0 ? { fail: away } : { text: 'Hello!' }));
    const conversation = memoryEngine({ model, pathway });
    await expect(conversation.say('Hi')).rejects.toMatchObject({ code: 'model_unavailable' });
    expect(conversation.session().state.messages).toEqual([]);
    expect(conversation.events().at(-1)).toMatchObject({
      type: 'error',
      data: { code: 'model_unavailable' },
    });
    expect(await conversation.say('Hi')).toBe('Hello!');
    expect(conversation.session().state.messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
  });

  test('A turn of a session that ended meanwhile is added to the history', async () => {
    const model = scriptedModel(() => ({ text: ['One', ' two'] }));
    const conversation = memoryEngine({ model, pathway });
    const wanted = { projectId: PROJECT, sessionId: 's', channel: 'chat' } as const;
    const endSession = async () => void (await conversation.engine.end(PROJECT, 's', 'api_end'));
    const turn = conversation.engine.runTurn(
      wanted,
      () => ({ input: { kind: 'words', text: 'Count' } }),
      ({ type }) => (type === 'text' ? endSession() : undefined),
      new AbortController().signal,
    );
    await expect(turn).rejects.toMatchObject({ code: 'session_changed' });
    expect(conversation.records.at(-1)?.messages).toMatchObject([
      { content: 'Count' },
      { content: 'One two' },
    ]);
  });

  test('Unanswered spoken words of a session that ended meanwhile are added to the history', async () => {
    const errors: unknown[] = [];
    const model = scriptedModel(() => ({
      after: conversation.engine.end(PROJECT, 's', 'api_end'),
      fail: away,
    }));
    const conversation = memoryEngine({ model, pathway, onError: (error) => void errors.push(error) });
    const delivery = {
      onSession: () => undefined,
      onNode: () => undefined,
      finish: async () => ({ text: '', interrupted: false }),
      heardSoFar: () => ({ text: '', interrupted: false }),
    };
    await expect(conversation.turn({ kind: 'words', text: 'Help' }, { delivery })).rejects.toBe(away);
    expect(conversation.records.at(-1)).toMatchObject({
      messages: [{ content: 'Help' }],
      events: [{ type: 'error', data: { code: 'model_unavailable' } }],
    });
    expect(errors).toEqual([]);
  });

  test('A model that fails midway leaves its words, marked as interrupted', async () => {
    const model = scriptedModel(() => ({ text: ['Hel', 'lo'], fail: away }));
    const conversation = memoryEngine({ model, pathway });
    await expect(conversation.say('Hi')).rejects.toMatchObject({ code: 'model_unavailable' });
    expect(conversation.session().state.messages.at(-1)).toMatchObject({
      role: 'assistant',
      content: 'Hello',
      interrupted: true,
    });
  });

  test('A client that leaves stops the model, and what was said is stored', async () => {
    const model = scriptedModel(() => ({ text: ['One', ' two'], hang: true }));
    const conversation = memoryEngine({ model, pathway });
    const leaving = new AbortController();
    const wanted = { projectId: PROJECT, sessionId: 's', channel: 'chat' } as const;
    const turn = conversation.engine.runTurn(
      wanted,
      () => ({ input: { kind: 'words', text: 'Count' } }),
      ({ type }) => (type === 'text' ? void leaving.abort(new Error('gone')) : undefined),
      leaving.signal,
    );
    await expect(turn).rejects.toThrow('gone');
    expect(model.abortedRequests()).toBe(1);
    expect(conversation.session().state.messages.at(-1)).toMatchObject({ content: 'One', interrupted: true });
  });

  test('A client that leaves before the first word is recorded, and the conversation stays as it was', async () => {
    const model = scriptedModel((_request, index) => (index === 0 ? { hang: true } : { text: 'Hello!' }));
    const conversation = memoryEngine({ model, pathway });
    const leaving = new AbortController();
    const wanted = { projectId: PROJECT, sessionId: 's', channel: 'chat' } as const;
    const outputs: TurnOutput[] = [];
    const turn = conversation.engine.runTurn(
      wanted,
      () => ({ input: { kind: 'words', text: 'Hi' } }),
      (output) => void outputs.push(output),
      leaving.signal,
    );
    await vi.waitFor(() => expect(model.requests).toHaveLength(1));
    leaving.abort(new Error('gone'));
    await expect(turn).rejects.toThrow('gone');
    expect(outputs.map(({ type }) => type)).toEqual(['start']);
    expect(conversation.events().filter(({ type }) => type === 'error')).toMatchObject([
      { data: { code: 'interrupted' } },
    ]);
    expect(conversation.session().state).toMatchObject({ messages: [], currentNodeId: null });
    expect(await conversation.say('Hi')).toBe('Hello!');
  });

  test('A pathway that moves in circles without a word stops', async () => {
    const model = scriptedModel(() => ({ text: 'Hi.' }));
    const conversation = memoryEngine({
      model,
      pathway: {
        nodes: [
          { id: 'start', type: 'start', data: { title: 'S' } },
          { id: 'a', type: 'condition', data: { title: 'A' } },
          { id: 'b', type: 'condition', data: { title: 'B' } },
        ],
        edges: [
          { id: '1', source: 'start', target: 'a' },
          { id: '2', source: 'a', target: 'b' },
          { id: '3', source: 'b', target: 'a' },
        ],
      },
    });
    await conversation.say('Hi');
    expect(conversation.events().at(-1)).toMatchObject({ type: 'error', data: { code: 'too_many_hops' } });
  });
});

test('A node without a prompt is passed by its unconditional edge', async () => {
  const model = scriptedModel((request) => ({ text: nodeOf(request) ?? '' }));
  const conversation = memoryEngine({
    model,
    pathway: {
      nodes: [
        { id: 'start', type: 'start', data: { title: 'S' } },
        { id: 'help', type: 'conversation', data: { title: 'Help', prompt: 'Help.' } },
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

describe('A session that changes while the lock is acquired', () => {
  /** @param meanwhile - What another node does between the read of the session and the lock. */
  function scene(wasContended: boolean) {
    const meanwhile = { act: () => {} };
    const model = scriptedModel((_request, index) => ({ text: `Answer ${index}.` }));
    let reads = 0;
    const conversation = memoryEngine({
      model,
      pathway,
      wrapSessions: (sessions) => ({
        ...sessions,
        find: (...session) => {
          reads += 1;
          return sessions.find(...session);
        },
      }),
      lock: {
        async acquire() {
          await Promise.resolve();
          meanwhile.act();
          return { lost: new AbortController().signal, wasContended, release: async () => undefined };
        },
      },
    });
    return { conversation, model, meanwhile, reads: () => reads };
  }

  test('is read again after another turn', async () => {
    const { conversation, model, meanwhile } = scene(true);
    await conversation.say('First');
    meanwhile.act = () => {
      const session = conversation.session();
      const messages = [...session.state.messages, { role: 'user' as const, content: 'Between', at: '' }];
      conversation.sessions.set('s', { ...session, turn: 7, state: { ...session.state, messages } });
    };
    await conversation.say('Second');
    expect(model.requests[1]?.messages.map(({ content }) => content)).toContain('Between');
    expect(conversation.session().turn).toBe(8);
  });

  test('is created anew after its end', async () => {
    const { conversation, meanwhile } = scene(true);
    await conversation.say('First');
    const { instanceId } = conversation.session();
    meanwhile.act = () => conversation.sessions.clear();
    await conversation.say('Second');
    expect(conversation.session().instanceId).not.toBe(instanceId);
    expect(conversation.session().turn).toBe(1);
  });

  test('is read once when the lock was free', async () => {
    const { conversation, reads } = scene(false);
    await conversation.say('First');
    expect(reads()).toBe(1);
  });
});
