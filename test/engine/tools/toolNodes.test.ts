import { expect, test } from 'vitest';
import type { AgentConfig } from '../../../src/agents/agentConfig.ts';
import type { PathwayInput } from '../../../src/agents/pathway/schema/pathwaySchema.ts';
import type { Tool } from '../../../src/agents/tool.ts';
import type { TurnOutput } from '../../../src/engine/turn/turn.ts';
import { memoryEngine } from '../../support/memoryEngine.ts';
import { scriptedModel } from '../../support/scriptedModel.ts';

/** A tool node, and what is said after it: `done` or `failed` by its result. */
function toolNode(tool: string, args: object): PathwayInput {
  const says = (id: string) => ({ id, type: 'say' as const, data: { title: id, prompt: `${id}.` } });
  return {
    nodes: [
      { id: 'start', type: 'start', data: { title: 'Start' } },
      { id: 'run', type: 'tool', data: { title: 'Run', tools: [tool], arguments: { ...args } } },
      says('done'),
      says('failed'),
    ],
    edges: [
      { id: 'begin', source: 'start', target: 'run' },
      {
        id: 'ok',
        source: 'run',
        target: 'done',
        data: { condition: { event: 'tool_result', ok: true, tool } },
      },
      {
        id: 'not',
        source: 'run',
        target: 'failed',
        data: { condition: { event: 'tool_result', ok: false } },
      },
    ],
  };
}

const actionsOf = (outputs: readonly TurnOutput[]) =>
  outputs.flatMap((output) => (output.type === 'action' ? [output.action] : []));
const model = scriptedModel(() => ({ text: 'Hello.' }));
const VARIABLES = { name: 'Ann', age: 42, desk: '+886212345678', order: { lines: [1, 2] } };

async function run(tool: string, args: object, agent: Partial<AgentConfig> = {}) {
  const conversation = memoryEngine({
    model,
    agent,
    pathway: toolNode(tool, args),
    knowledge: {
      search: async (_project, query) => [
        { content: `About ${query}.`, score: 1, datasetId: 'd', chunkId: 'c' },
      ],
    },
  });
  const outputs = await conversation.turn({ kind: 'begin' }, { variables: VARIABLES });
  const said = outputs.map((output) => (output.type === 'text' ? output.text : '')).join('');
  const end = outputs.at(-1);
  return { conversation, said, actions: actionsOf(outputs), ended: end?.type === 'done' ? end.ended : null };
}

test.each([
  ['a text with a template', 'Dear {{ name }}', 'Dear Ann'],
  ['a number', 7, 7],
  ['a variable that is a number', '{{ age }}', 42],
  ['a variable that is an object', '{{ order }}', { lines: [1, 2] }],
  ['a part of a variable', '{{ order.lines }}', [1, 2]],
  ['a list with templates', ['{{ name }}', '{{ age }}', true], ['Ann', 42, true]],
])('A tool node sets a variable to %s, with its type', async (_, value, expected) => {
  const { conversation, said } = await run('set_variable', { name: 'noted', value });
  expect(said).toBe('done.');
  expect(conversation.session().state.variables.noted).toEqual(expected);
  expect(conversation.events()).toContainEqual(
    expect.objectContaining({
      type: 'variable_set',
      data: { name: 'noted', value: expected, source: 'pathway' },
    }),
  );
});

test('A tool node ends the conversation by end_call', async () => {
  expect(await run('end_call', {})).toMatchObject({ said: '', ended: 'end_call_tool' });
});

test('A tool node transfers the call by transfer_call, and follows its edges when that fails', async () => {
  const { actions, said, conversation } = await run('transfer_call', { to: '{{ desk }}' });
  expect([actions, said]).toEqual([[{ kind: 'transfer', to: '+886212345678' }], '']);
  const requested = { status: 'requested', to: '+886212345678' };
  expect(conversation.events()).toContainEqual(
    expect.objectContaining({ type: 'transfer', data: requested }),
  );
  const outputs = await conversation.turn({ kind: 'transfer_failed', to: '+886212345678', reason: 'busy' });
  expect(outputs).toContainEqual({ type: 'text', text: 'failed.' });
});

test('A transfer to none of the agent’s transferTargets is refused', async () => {
  const agent = { transferTargets: ['+886212345678'] };
  expect(await run('transfer_call', { to: '+886299999999' }, agent)).toMatchObject({
    actions: [],
    said: 'failed.',
  });
  expect(await run('transfer_call', { to: '+886212345678' }, agent)).toMatchObject({
    actions: [{ kind: 'transfer', to: '+886212345678' }],
  });
});

test('A listed target is called over the trunk of its entry, and over no other', async () => {
  const trunkId = '00000000-0000-4000-8000-00000000000a';
  const agent = { transferTargets: [{ to: '+886212345678', trunkId }] };
  expect(await run('transfer_call', { to: '+886212345678' }, agent)).toMatchObject({
    actions: [{ kind: 'transfer', to: '+886212345678', options: { trunkId } }],
  });
  const other = { to: '+886212345678', trunkId: '00000000-0000-4000-8000-00000000000b' };
  expect(await run('transfer_call', other, agent)).toMatchObject({ actions: [], said: 'failed.' });
});

test('A tool node sends DTMF digits by send_dtmf and moves on', async () => {
  const { actions, said } = await run('send_dtmf', { digits: '{{ age }}#' });
  expect([actions, said]).toEqual([[{ kind: 'send_dtmf', digits: '42#' }], 'done.']);
});

test('A tool node searches the documents by query_knowledgebase, and its result is a variable', async () => {
  const { conversation, said } = await run('query_knowledgebase', { query: 'parking for {{ name }}' });
  expect(said).toBe('done.');
  expect(conversation.session().state.variables.query_knowledgebase).toBe('About parking for Ann.');
});

test.each([
  ['set_variable', { value: 1 }],
  ['send_dtmf', { digits: 'seven' }],
  ['no_such_tool', {}],
])('A tool node whose %s cannot run with %j follows its edge for failures', async (tool, args) => {
  const { conversation, said } = await run(tool, args);
  expect(said).toBe('failed.');
  expect(conversation.failedTools).toMatchObject([{ tool }]);
  expect(conversation.events()).toContainEqual(
    expect.objectContaining({
      type: 'tool_result',
      data: expect.objectContaining({ name: tool, ok: false }),
    }),
  );
});

test.each([
  [true, { id: 5 }, 'B7'],
  [false, undefined, 'before'],
])('A project’s tool sets its variables where it succeeds: %j', async (ok, value, id) => {
  const tool = {
    id: 'tool-1',
    name: 'book',
    parameters: { type: 'object' },
    resultMapping: [
      { path: 'booking.id', variable: 'bookingId' },
      { path: 'gone', variable: 'kept' },
    ],
  } as unknown as Tool;
  const answer = { ...value, booking: { id: 'B7' } };
  const conversation = memoryEngine({
    model,
    pathway: toolNode('tool-1', {}),
    tools: [tool],
    toolRunner: { run: async () => ({ ok, text: 'x', value: answer, status: 201, durationMs: 7 }) },
  });
  await conversation.turn(
    { kind: 'begin' },
    { variables: { bookingId: 'before', kept: 1, book: undefined } },
  );
  const { variables } = conversation.session().state;
  expect(variables).toEqual({ bookingId: id, kept: 1, ...(ok ? { book: answer } : {}) });
  const result = conversation.events().find(({ type }) => type === 'tool_result');
  expect(result?.data).toEqual({ name: 'book', ok, result: 'x', status: 201, durationMs: 7 });
});

test.each([
  [['+886212345678', '+1'], 'Transfers go only to: +886212345678, +1'],
  [[], 'Transfers go only to: nobody'],
])('A refused transfer tells where the agent may transfer to: %j', async (transferTargets, result) => {
  const { conversation } = await run('transfer_call', { to: '+886299999999' }, { transferTargets });
  expect(conversation.events().find(({ type }) => type === 'tool_result')?.data).toMatchObject({
    ok: false,
    result,
  });
});

test('The arguments of a project’s tool keep their types, and follow its schema', async () => {
  const tool: Tool = {
    id: 'tool-1',
    name: 'book',
    description: '',
    parameters: {
      type: 'object',
      properties: { guests: { type: 'integer' }, code: { type: 'string' }, vip: { type: 'boolean' } },
    },
    http: { method: 'POST', url: 'https://tools.example', headers: [], timeoutMs: 1000 },
    createdAt: '2026-01-01T00:00:00.000Z',
    updatedAt: '2026-01-01T00:00:00.000Z',
  };
  const given: unknown[] = [];
  const args = { guests: '4', code: '{{ age }}', vip: 'true', order: '{{ order }}', note: '{{ name }}!' };
  const conversation = memoryEngine({
    model,
    pathway: toolNode('tool-1', args),
    tools: [tool],
    toolRunner: {
      async run(_tool, text) {
        given.push(JSON.parse(text));
        return { ok: true, text: '{"id":5}', value: { id: 5 } };
      },
    },
  });
  await conversation.turn({ kind: 'begin' }, { variables: VARIABLES });
  expect(given).toEqual([{ guests: 4, code: '42', vip: true, order: { lines: [1, 2] }, note: 'Ann!' }]);
  expect(conversation.session().state.variables.book).toEqual({ id: 5 });
});
