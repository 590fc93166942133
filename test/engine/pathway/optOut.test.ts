import { expect, test } from 'vitest';

import type { AgentConfig } from '../../../src/agents/agentConfig.ts';
import type { PathwayInput } from '../../../src/agents/pathway/schema/pathwaySchema.ts';
import { unavailable } from '../../../src/base/errors.ts';
import { type CallFacts, newSessionState } from '../../../src/engine/session/session.ts';
import type { OptOut } from '../../../src/engine/tools/callbacks.ts';
import { optOutOf } from '../../../src/engine/tools/optOut/optOut.ts';
import type { TurnInput } from '../../../src/engine/turn/turn.ts';
import { memoryEngine } from '../../support/memoryEngine.ts';
import { scriptedModel } from '../../support/scriptedModel.ts';
import { makeSession } from '../support/makeSession.ts';

const INBOUND: CallFacts = {
  direction: 'inbound',
  fromNumber: '+13105551234',
  toNumber: '+886223456789',
  callId: 'call',
  trunkId: 'trunk',
};
const STOP: TurnInput = { kind: 'user_message', text: 'Please stop calling me.' };
const GOODBYE = 'I have taken your number off our list. We will not call you again. Goodbye.';

interface Options {
  readonly call?: CallFacts | undefined;
  readonly agent?: Partial<AgentConfig>;
  readonly edges?: PathwayInput['edges'];
  /** The model calls the tool at its first request. */
  readonly callsTool?: boolean;
  /** What the database answers. */
  readonly fails?: () => Promise<never>;
}

/** Runs the turns of a conversation; `order` has what happened, as numbers listed and texts said. */
async function talk(inputs: readonly TurnInput[], options: Options) {
  const { call, agent, edges = [], callsTool = false, fails } = options;
  const listed: OptOut[] = [];
  const order: string[] = [];
  let requests = 0;
  const conversation = memoryEngine({
    model: scriptedModel(() => {
      requests += 1;
      if (callsTool && requests === 2) return { calls: [{ name: 'opt_out', arguments: { reason: 'busy' } }] };
      return { text: 'Hello.' };
    }),
    ...(call ? { call } : {}),
    ...(agent ? { agent } : {}),
    async addOptOut(optOut) {
      await fails?.();
      listed.push(optOut);
      order.push(optOut.number);
    },
    pathway: {
      nodes: [
        { id: 'start', type: 'start', data: { title: 'Start' } },
        { id: 'talk', type: 'conversation', data: { title: 'Talk', prompt: 'Help.', tools: ['opt_out'] } },
        { id: 'sorry', type: 'say', data: { title: 'Sorry', prompt: 'We are sorry.' } },
        { id: 'list', type: 'tool', data: { title: 'List', tools: ['opt_out'] } },
        { id: 'end', type: 'end', data: { title: 'End' } },
      ],
      edges: [
        { id: 'begin', source: 'start', target: 'talk' },
        { id: 'over', source: 'sorry', target: 'end' },
        ...edges,
      ],
    },
  });
  let ended: unknown = null;
  for (const input of [{ kind: 'begin' } as const, ...inputs]) {
    for (const output of await conversation.turn(input)) {
      if (output.type === 'text') order.push(output.text);
      if (output.type === 'done') ended = output.ended;
    }
  }
  const events = conversation.events().filter(({ type }) => type === 'opt_out');
  const kept = conversation.records.flatMap(({ optOut }) => optOut ?? []);
  return { listed, order, ended, requests, events: events.map(({ data }) => data), kept, conversation };
}

const edge = (
  condition: { event: 'opt_out' } | { event: 'dtmf'; digits: string },
  source: string,
  target: string,
) => ({
  id: target,
  source,
  target,
  data: { condition },
});

test('A person who wants no more calls is listed, then told so, and the call ends, without a model', async () => {
  const { listed, order, ended, requests, events } = await talk([STOP], { call: INBOUND });
  const reason = 'Please stop calling me.';
  expect(listed).toEqual([
    { projectId: 'project-1', number: '+13105551234', callId: 'call', source: 'spoken', reason },
  ]);
  expect(order).toEqual(['Hello.', '+13105551234', GOODBYE]);
  expect([ended, requests]).toEqual(['end_call_tool', 1]);
  expect(events).toEqual([{ source: 'spoken', reason }]);
});

test('On an outbound call the called number is listed', async () => {
  const { listed } = await talk([STOP], {
    call: { ...INBOUND, direction: 'outbound', toNumber: '+13105559999' },
  });
  expect(listed.map(({ number }) => number)).toEqual(['+13105559999']);
});

test.each<[Partial<AgentConfig>, RegExp]>([
  [{ speech: { languages: ['de', 'en'] } }, /^Ich habe Ihre Nummer/],
  [{ optOut: { confirm: 'Bye {{ call.fromNumber }}.' } }, /^Bye \+13105551234\.$/],
  [{ speech: { languages: ['fr'] }, optOut: { confirm: 'Bye in {{ language }}.' } }, /^Bye in fr\.$/],
])('The agent says what confirm says, and the call ends', async (agent, expected) => {
  const { order, ended } = await talk([STOP], { call: INBOUND, agent });
  expect(order.at(-1)).toMatch(expected);
  expect(ended).toBe('end_call_tool');
});

test.each(['talk', '*'])(
  'An edge for opt_out from %s leads on in place of the confirmation',
  async (source) => {
    const edges = [edge({ event: 'opt_out' }, source, 'sorry')];
    const { order, ended } = await talk([STOP], { call: INBOUND, edges });
    expect(order).toEqual(['Hello.', '+13105551234', 'We are sorry.']);
    expect(ended).toBe('end_node');
  },
);

test('Without detect only the tool and an edge list a number', async () => {
  const agent = { optOut: { detect: false } };
  const { listed, order } = await talk([STOP], { call: INBOUND, agent });
  expect([listed, order]).toEqual([[], ['Hello.', 'Hello.']]);
});

test('The model lists a number by the tool', async () => {
  const hello: TurnInput = { kind: 'user_message', text: 'I am so fed up with you' };
  const { listed, order, ended, events } = await talk([hello], { call: INBOUND, callsTool: true });
  expect(listed).toMatchObject([{ source: 'tool', reason: 'busy' }]);
  expect(order).toEqual(['Hello.', '+13105551234', GOODBYE]);
  expect([ended, events]).toEqual(['end_call_tool', [{ source: 'tool', reason: 'busy' }]]);
});

test('A key that leads to the tool lists a number', async () => {
  const edges = [edge({ event: 'dtmf', digits: '9' }, 'talk', 'list')];
  const { listed, order, ended } = await talk([{ kind: 'dtmf', digits: '9' }], { call: INBOUND, edges });
  expect(listed).toMatchObject([{ source: 'dtmf', number: '+13105551234' }]);
  expect([order.at(-1), ended]).toEqual([GOODBYE, 'end_call_tool']);
});

test('An edge out of the tool node leads on', async () => {
  const edges = [
    edge({ event: 'dtmf', digits: '9' }, 'talk', 'list'),
    { id: 'on', source: 'list', target: 'sorry' },
  ];
  const { listed, order } = await talk([{ kind: 'dtmf', digits: '9' }], { call: INBOUND, edges });
  expect(listed).toHaveLength(1);
  expect(order.at(-1)).toBe('We are sorry.');
});

test.each([
  ['3105551234', '+12125550100', '+13105551234'],
  ['030 901820', '+4930123456', '+4930901820'],
  ['1001', '+12125550100', undefined],
])('A caller whom the carrier shows as %s at %s is listed as %s', async (fromNumber, toNumber, number) => {
  const { listed } = await talk([STOP], { call: { ...INBOUND, fromNumber, toNumber } });
  expect(listed[0]?.number).toBe(number);
});

test('A hidden number cannot be listed, and the call ends all the same', async () => {
  const { listed, ended } = await talk([STOP], { call: { ...INBOUND, fromNumber: 'anonymous' } });
  expect([listed, ended]).toEqual([[], 'end_call_tool']);
});

test('What a simulated person says lists no number', () => {
  const test = { releaseId: 'release', toolMocks: [], allowRealTools: false };
  const state = newSessionState({});
  const wishOf = (facts: Partial<typeof state>) =>
    optOutOf(makeSession({ state: { ...state, call: INBOUND, ...facts } }), 'spoken', 'stop');
  expect([wishOf({})?.number, wishOf({ test })?.number]).toEqual(['+13105551234', undefined]);
});

test('A chat has no number, and is answered', async () => {
  const { listed, order } = await talk([STOP], {});
  expect([listed, order]).toEqual([[], ['Hello.', 'Hello.']]);
});

test.each([
  ['is away', () => Promise.reject(unavailable('database'))],
  ['does not answer', () => new Promise<never>(() => undefined)],
])(
  'While the database %s, the agent confirms, and the turn keeps the number to be listed',
  async (_what, fails) => {
    const { listed, order, ended, events, kept } = await talk([STOP], { call: INBOUND, fails });
    expect([listed, order, ended]).toEqual([[], ['Hello.', GOODBYE], 'end_call_tool']);
    expect(events).toHaveLength(1);
    expect(kept).toMatchObject([{ number: '+13105551234', source: 'spoken' }]);
  },
);

test('Words that come after the answer of a model that speaks itself are heard too', async () => {
  const late = { kind: 'user_message', text: '…', late: Promise.resolve('Stop calling me!') } as const;
  const { listed, order, ended } = await talk([late], { call: INBOUND });
  expect(listed).toMatchObject([{ source: 'spoken', reason: 'Stop calling me!' }]);
  expect([order.at(-1), ended]).toEqual([`\n${GOODBYE}`, 'end_call_tool']);
});

test('Last words that no turn answers list a number without a word', async () => {
  const bye: TurnInput = { kind: 'unanswered_message', text: 'Stop calling me!' };
  const { listed, order, ended, events } = await talk([bye], { call: INBOUND });
  expect(listed).toMatchObject([{ source: 'spoken', reason: 'Stop calling me!' }]);
  expect([order, ended, events.length]).toEqual([['Hello.', '+13105551234'], null, 1]);
});

test('Last words that come after the session’s end list a number, in its history too', async () => {
  const { conversation, listed } = await talk([], { call: INBOUND });
  const [session] = conversation.sessions.values();
  if (!session) throw new Error('no session');
  await conversation.engine.end(session.projectId, session.sessionId, 'call_ended');
  await conversation.engine.heardAfterEnd(session, ['Goodbye.']);
  expect(listed).toEqual([]);
  await conversation.engine.heardAfterEnd(session, ['Well.', 'Stop calling me!']);
  expect(listed).toMatchObject([{ number: '+13105551234', reason: 'Stop calling me!' }]);
  expect(conversation.events().filter(({ type }) => type === 'opt_out')).toHaveLength(1);
});
