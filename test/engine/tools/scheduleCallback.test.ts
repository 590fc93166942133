import { expect, test } from 'vitest';

import type { AgentConfig } from '../../../src/agents/agentConfig.ts';
import { CallwayError } from '../../../src/base/errors.ts';
import type { CallFacts } from '../../../src/engine/session/session.ts';
import type { CallbackRequest } from '../../../src/engine/tools/callbacks.ts';
import { memoryEngine } from '../../support/memoryEngine.ts';
import { scriptedModel } from '../../support/scriptedModel.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

/** In Taipei 15:30, in New York 02:30 of the same day. */
const NOW = '2026-11-24T07:30:00.000Z';
const INBOUND: CallFacts = {
  direction: 'inbound',
  fromNumber: '+886912345678',
  toNumber: '+886223456789',
  callId: 'call',
  trunkId: 'trunk',
};
const AMERICAN: CallFacts = {
  ...INBOUND,
  direction: 'outbound',
  fromNumber: '+886223456789',
  toNumber: '+18005550123', // anywhere in North America
};

interface Options {
  readonly call?: CallFacts | undefined;
  readonly agent?: Partial<AgentConfig>;
  readonly problem?: Error;
  /** The time that the calling hours allow. */
  readonly movedTo?: string;
}

/** Calls the tool by a model, and returns its result with what was ordered. */
async function callTool(args: object, { call, agent, problem, movedTo }: Options = {}) {
  const ordered: CallbackRequest[] = [];
  let result = '';
  const conversation = memoryEngine({
    model: scriptedModel(({ messages }) => {
      const last = messages.at(-1);
      if (last?.role !== 'tool') return { calls: [{ name: 'schedule_callback', arguments: args }] };
      result = String(last.content);
      return { text: 'Done.' };
    }),
    clock: createSimulatedClock(Date.parse(NOW)),
    ...(agent ? { agent } : {}),
    ...(call ? { call } : {}),
    async scheduleCallback(request) {
      if (problem) throw problem;
      ordered.push(request);
      return movedTo ?? request.notBefore;
    },
    pathway: {
      nodes: [
        { id: 'start', type: 'start', data: { title: 'Start' } },
        {
          id: 'talk',
          type: 'conversation',
          data: { title: 'Talk', prompt: 'Help.', tools: ['schedule_callback'] },
        },
      ],
      edges: [{ id: 'begin', source: 'start', target: 'talk' }],
    },
  });
  await conversation.say('Call me later', { variables: { name: 'Ada' } });
  return { ordered, result };
}

test('schedule_callback orders a call to the person, by their clock, and says when', async () => {
  const reason = 'the invoice';
  const { ordered, result } = await callTool({ atLocalTime: '2026-11-25T09:00', reason }, { call: INBOUND });
  expect(ordered).toEqual([
    {
      projectId: 'project-1',
      sessionId: 's',
      call: INBOUND,
      variables: { name: 'Ada' },
      notBefore: '2026-11-25T01:00:00.000Z',
      reason,
    },
  ]);
  expect(result).toContain('Wednesday, 2026-11-25, 09:00 (Asia/Taipei, GMT+08:00)');
});

test.each([
  ['the agent’s', { agent: { timezone: 'America/New_York' } }, '2026-11-25T14:00:00.000Z'],
  ['UTC', {}, '2026-11-25T09:00:00.000Z'],
])('A number that may be in several zones has %s time zone', async (_whose, options, notBefore) => {
  const { ordered } = await callTool({ atLocalTime: '2026-11-25T09:00' }, { call: AMERICAN, ...options });
  expect(ordered).toEqual([expect.objectContaining({ notBefore, reason: null })]);
});

test.each([
  ['a past time', '2026-11-24T15:29', {}, /passed.*15:30 \(Asia\/Taipei/],
  ['no time', 'at nine', {}, /2026-11-24T15:00/],
  ['a time with a zone', '2026-11-25T09:00Z', {}, /without a zone/],
  [
    'a time that the clocks skip',
    '2027-03-14T02:30',
    { call: AMERICAN, agent: { timezone: 'America/New_York' } },
    /does not exist in America\/New_York/,
  ],
  ['a hidden number', '2026-11-25T09:00', { call: { ...INBOUND, fromNumber: 'anonymous' } }, /hidden/],
  ['a chat', '2026-11-25T09:00', { call: undefined }, /no phone call/],
  [
    'a refused order',
    '2026-11-25T09:00',
    { problem: new CallwayError('rate_limited', 'quota_exceeded', 'too many of them') },
    /too many of them/,
  ],
])('The model is told what is wrong with %s', async (_what, atLocalTime, options, expected) => {
  const { ordered, result } = await callTool({ atLocalTime }, { call: INBOUND, ...options });
  expect(ordered).toEqual([]);
  expect(result).toMatch(expected);
});
