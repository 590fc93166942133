import { describe, expect, test } from 'vitest';
import type { PathwayInput } from '../../../src/agents/pathway/schema/pathwaySchema.ts';
import { NO_PENDING_ROUTE, sessionData } from '../../../src/engine/session/session.ts';
import type { Delivered } from '../../../src/engine/turn/delivery.ts';
import type { TurnInput, TurnRequest } from '../../../src/engine/turn/turn.ts';
import { type MemoryOptions, memoryEngine } from '../../support/memoryEngine.ts';
import { scriptedModel } from '../../support/scriptedModel.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

const CALL = { direction: 'inbound', fromNumber: '+1', toNumber: '+2', callId: 'c', trunkId: null } as const;
const pathway: PathwayInput = {
  nodes: [{ id: 'start', type: 'start', data: { title: 'Talk', prompt: 'Talk.', expectedAnswers: ['Yes'] } }],
  edges: [],
};
const START_MS = Date.UTC(2026, 0, 1);
const at = (ms: number) => new Date(START_MS + ms).toISOString();

/** A conversation that answers "Well." 300 ms after it is asked. */
function open(options: Partial<MemoryOptions> = {}) {
  const clock = createSimulatedClock(START_MS);
  const model = scriptedModel(() => {
    clock.advance(300);
    return { text: 'Well.' };
  });
  return { clock, model, ...memoryEngine({ model, pathway, clock, ...options }) };
}

const USAGE = [{ model: 'm-balance', inputTokens: 10, outputTokens: 2, cachedInputTokens: 0 }];
const USED = {
  'inputTokens/m-balance': 10,
  'outputTokens/m-balance': 2,
  'cachedInputTokens/m-balance': 0,
};
const answer = { role: 'assistant', content: 'Well.', nodeId: 'start', usage: USAGE };
const delivery = (delivered: Delivered) => ({
  onSession: () => undefined,
  onNode: () => undefined,
  finish: async () => delivered,
  heardSoFar: () => ({ text: '', interrupted: false }),
});

test('A new chat is stored with its release, times and first answer', async () => {
  const conversation = open({ agent: { sessionIdleMinutes: 7 } });
  await conversation.turn({ kind: 'user_message', text: 'Hi' }, { variables: { name: 'Ann' }, digest: 'd' });
  const messages = [
    { role: 'user', content: 'Hi', at: at(0) },
    { ...answer, at: at(300), latencyMs: 300, latencyDetails: { modelMs: 300 } },
  ];
  expect(conversation.session()).toEqual({
    projectId: 'project-1',
    sessionId: 's',
    instanceId: expect.any(String),
    channel: 'chat',
    provider: null,
    callId: null,
    pathwayId: 'pathway-1',
    releaseId: 'release-1',
    release: null,
    idleMinutes: 7,
    digest: expect.not.stringMatching(/^d$/),
    turn: 1,
    startedAt: at(0),
    lastActivityAt: at(300),
    state: {
      variables: { name: 'Ann' },
      messages,
      currentNodeId: 'start',
      hasSpoken: true,
      route: NO_PENDING_ROUTE,
      pendingToolCalls: [],
      usage: USED,
      summary: null,
      memory: null,
    },
  });
  const data = { channel: 'chat', provider: null, pathwayId: 'pathway-1', pathwayVersion: 1, draft: false };
  expect(conversation.records).toEqual([
    { messages: [], events: [{ type: 'session_started', at: at(0), data }] },
    {
      messages,
      used: USED,
      events: [
        {
          type: 'node_entered',
          at: at(0),
          data: { nodeId: 'start', title: 'Talk', why: expect.any(String) },
        },
      ],
    },
  ]);
});

test('A spoken turn is stored as it was heard, with its times, voices and latency', async () => {
  const conversation = open({ call: CALL });
  const speech = { recognition: 'deepgram' };
  const delivered: Delivered = {
    text: 'We',
    generatedText: 'Hm. Well.',
    interrupted: true,
    heard: 'estimated',
    spokenFromMs: START_MS + 200,
    latencyMs: 250,
    latencyDetails: { modelMs: 100 },
    speech: { synthesis: 'cartesia' },
    events: [{ type: 'barge_in', data: { heardMs: 90 } }],
  };
  const spoken = { beganAtMs: START_MS - 100, spokenFromMs: START_MS - 900 };
  await conversation.turn(
    { kind: 'user_message', text: 'Hi', speech },
    { ...spoken, digest: 'd', delivery: delivery(delivered) },
  );
  expect(conversation.session()).toMatchObject({
    digest: 'd',
    callId: 'c',
    channel: 'phone',
    state: { call: CALL, hasSpoken: true },
  });
  expect(conversation.records.at(-1)?.messages).toEqual([
    { role: 'user', content: 'Hi', at: at(0), speech, spoken: { from: at(-900), to: at(-100) } },
    {
      ...answer,
      content: 'We',
      generatedText: 'Hm. Well.',
      interrupted: true,
      heard: 'estimated',
      at: at(300),
      latencyMs: 250,
      latencyDetails: { modelMs: 100 },
      speech: { synthesis: 'cartesia' },
      spoken: { from: at(200), to: at(300) },
    },
  ]);
  expect(conversation.events().at(-1)).toEqual({ type: 'barge_in', at: at(300), data: { heardMs: 90 } });
});

describe('The history of a turn has', () => {
  const heard = delivery({ text: 'Well.', interrupted: false });
  const user = (content: string, more = {}) => ({ role: 'user', content, ...more });
  const failed = { to: '+3', outcome: 'busy', reason: 'they talk' } as const;

  test.each<[string, TurnInput, Partial<TurnRequest>, object[], object[]]>([
    [
      'DTMF digits as the customer’s words',
      { kind: 'dtmf', digits: '42' },
      {},
      [user('42')],
      [['dtmf', { digits: '42' }]],
    ],
    ['a silence', { kind: 'silence', durationMs: 5_000 }, {}, [], [['silence', { durationMs: 5_000 }]]],
    [
      'an answering machine with its evidence',
      { kind: 'voicemail', evidence: 'beep' },
      {},
      [],
      [['answering_machine', { kind: 'voicemail', evidence: 'beep' }]],
    ],
    ['an answering machine', { kind: 'voicemail' }, {}, [], [['answering_machine', { kind: 'voicemail' }]]],
    [
      'a failed transfer, told to the model alone',
      { kind: 'transfer_failed', ...failed },
      {},
      [user('[The transfer to +3 failed (busy: they talk); the customer is back.]', { internal: true })],
      [['tool_result', { name: 'transfer_call', ok: false, result: 'they talk', to: '+3', outcome: 'busy' }]],
    ],
    [
      'the results of the client’s tools',
      {
        kind: 'tool_results',
        results: [
          { toolCallId: 'a', name: 'look', content: 'ok' },
          { toolCallId: 'b', content: 'no' },
        ],
      },
      {},
      [
        { role: 'tool', content: 'ok', tool_call_id: 'a', name: 'look' },
        { role: 'tool', content: 'no', tool_call_id: 'b' },
      ],
      [
        ['tool_result', { name: 'look', ok: true, result: 'ok', by: 'caller' }],
        ['tool_result', { name: null, ok: true, result: 'no', by: 'caller' }],
      ],
    ],
    [
      'instructions of a supervisor for the model alone, each once',
      { kind: 'user_message', text: 'Hi' },
      {
        history: [
          { role: 'system', content: 'Be kind', instruction: 2 },
          { role: 'system', content: 'old', instruction: 1 },
          { role: 'system', content: 'again', instruction: 2 },
          { role: 'user', content: 'Wait' },
        ],
      },
      [{ role: 'system', content: 'Be kind', internal: true }, user('Wait'), user('Hi')],
      [],
    ],
  ])('%s', async (_what, input, more, messages, events) => {
    const conversation = open({ call: CALL });
    await conversation.turn(input, { delivery: heard, ...more });
    const { messages: stored, events: noted } = conversation.records.at(-1) ?? { messages: [], events: [] };
    expect(
      stored.filter(({ content }) => content !== 'Well.').map(({ at: _, ...message }) => message),
    ).toEqual(messages);
    expect(noted.filter(({ type }) => type !== 'node_entered').map(({ type, data }) => [type, data])).toEqual(
      events,
    );
  });

  test.each<[string, TurnInput, object[], object[]]>([
    ['what a customer said who has left', { kind: 'unanswered_message', text: 'Bye' }, [user('Bye')], []],
    ['nothing of a customer who left without a word', { kind: 'unanswered_message', text: '' }, [], []],
    [
      'why the channel says something itself',
      { kind: 'channel_error', code: 'c', message: 'm' },
      [],
      [['error', { code: 'c', message: 'm' }]],
    ],
    [
      'a supervisor’s words as the agent’s',
      { kind: 'say', text: 'Well.' },
      [{ role: 'assistant', content: 'Well.' }],
      [],
    ],
  ])('%s, without an answer of the model', async (_what, input, messages, events) => {
    const conversation = open({ call: CALL });
    await conversation.turn(input, input.kind === 'say' ? { delivery: heard } : {});
    const { messages: stored, events: noted } = conversation.records.at(-1) ?? { messages: [], events: [] };
    expect(stored.map(({ role, content }) => ({ role, content }))).toEqual(messages);
    expect(noted.map(({ type, data }) => [type, data])).toEqual(events);
    expect(conversation.model.requests).toEqual([]);
  });
});

test('An instruction that a session has is not added again by a later turn', async () => {
  const conversation = open();
  const history = [{ role: 'system', content: 'Be kind', instruction: 1 }] as const;
  for (const text of ['One', 'Two']) await conversation.say(text, { history });
  const contents = conversation.session().state.messages.map(({ content }) => content);
  expect(contents).toEqual(['Be kind', 'One', 'Well.', 'Two', 'Well.']);
  expect(conversation.session().state.latestInstruction).toBe(1);
});

test('A session is shown without what is for the model alone', async () => {
  const conversation = open({ call: CALL });
  await conversation.say('Hi', { history: [{ role: 'system', content: 'Be kind' }] });
  const calls = [{ id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } }] as const;
  const session = conversation.session();
  const more = [
    { role: 'assistant', content: null, tool_calls: calls, at: at(0) },
    { role: 'tool', content: 'ok', tool_call_id: 'a', name: 'look', internal: true, at: at(0) },
    { role: 'tool', content: 'ok', tool_call_id: 'a', name: 'look', at: at(0) },
  ] as const;
  const messages = [...session.state.messages, ...more];
  expect(sessionData({ ...session, state: { ...session.state, messages } })).toEqual({
    variables: {},
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Well.' },
      { role: 'assistant', content: null, tool_calls: calls },
      { role: 'tool', content: 'ok', tool_call_id: 'a', name: 'look' },
    ],
    pathwayId: 'pathway-1',
    release: 'draft',
    currentNodeId: 'start',
    channel: 'phone',
    provider: null,
    status: 'active',
    callId: 'c',
    startedAt: at(0),
    lastActivityAt: at(300),
  });
});

test.each([
  ['chat', undefined, ['session.ended', 'session.finalized']],
  ['phone', CALL, ['session.ended', 'call.ended', 'recording.ready', 'session.finalized']],
] as const)('The end of a %s makes its webhooks due', async (_channel, call, expected) => {
  const name = { name: 'name', type: 'string', description: 'Theirs', required: true } as const;
  const conversation = open({ call, agent: { variableConfigs: [name], speech: { languages: ['de-DE'] } } });
  await conversation.turn({ kind: 'begin' });
  await conversation.engine.end('project-1', 's', 'api_end');
  expect(conversation.endings).toEqual([
    {
      at: at(300),
      reason: 'api_end',
      missingVariables: ['name'],
      language: 'de-DE',
      finalizeBy: at(120_300),
      expected: expect.arrayContaining([...expected]),
      subscribed: [],
      evaluating: false,
      skippedAnalysis: null,
      readsMessages: false,
    },
  ]);
  expect(conversation.endings[0]?.expected).toHaveLength(expected.length);
});

test('A chat’s latency tells the time of a tool, which counts as the model’s nowhere', async () => {
  const clock = createSimulatedClock(START_MS);
  const model = scriptedModel((_request, index) => {
    clock.advance(300);
    return index === 0 ? { calls: [{ name: 'book' }] } : { text: 'Booked.' };
  });
  const tools = { run: async () => ({ ok: true, text: String(clock.advance(2000) ?? 'booked') }) };
  const [node] = pathway.nodes ?? [];
  const conversation = memoryEngine({
    model,
    clock,
    tools: [{ id: 'book', name: 'book', description: '', parameters: {} } as never],
    toolRunner: tools as never,
    pathway: {
      nodes: [{ ...node, data: { ...node?.data, title: 'Talk', tools: ['book'] } }],
      edges: [],
    } as never,
  });
  await conversation.turn({ kind: 'user_message', text: 'Book it' });
  expect(conversation.session().state.messages.at(-1)).toMatchObject({
    latencyMs: 2600,
    latencyDetails: { modelMs: 600, toolMs: 2000 },
  });
});
