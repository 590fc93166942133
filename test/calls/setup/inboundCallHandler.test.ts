import { expect, test } from 'vitest';
import { nodeDraining, nodeOverloaded } from '../../../src/base/errors.ts';
import { noopTracer } from '../../../src/base/tracing.ts';
import { NodeCapacity } from '../../../src/calls/limits/nodeCapacity.ts';
import type { CallFinisher } from '../../../src/calls/runner/callFinisher.ts';
import type { CallRunner } from '../../../src/calls/runner/callRunner.ts';
import { handleInboundCall, type InboundCallDeps } from '../../../src/calls/setup/inboundCallHandler.ts';
import type { InboundCall } from '../../../src/calls/telephony.ts';
import type { TrunkSlots } from '../../../src/calls/trunks/trunkSlots.ts';
import { draftSession } from '../../../src/engine/session/session.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { unused } from '../../support/unused.ts';

const unexpected = () => Promise.reject(new Error('not used here'));
const NUMBER = {
  inboundEnabled: true,
  record: null,
  noiseSuppression: null,
  trunkIds: [],
  number: '+886223456789',
  media: null,
  startNodeId: null,
  variables: {},
};

/** Everything that a test does not name fails. */
const depsWith = (given: Partial<InboundCallDeps>): InboundCallDeps => ({
  nodeId: 'node',
  calls: { insert: unexpected },
  conversations: { prepare: unexpected, start: unexpected },
  readAhead: async () => 'read ahead',
  slots: unused<TrunkSlots>('slots', { acquire: unexpected, release: unexpected }),
  limiter: { startCall: async () => 'started', endCall: async () => undefined },
  capacity: new NodeCapacity(9),
  metrics: { callRefused: () => undefined },
  runner: unused<CallRunner>('runner', { accept: () => expect.unreachable() }),
  finisher: unused<CallFinisher>('finisher', { finish: unexpected }),
  callRefusal: () => undefined,
  clock: createSimulatedClock(),
  makeId: () => 'call',
  tracer: noopTracer,
  onError: () => undefined,
  ...given,
});

function makeInbound(given: object = {}) {
  const rejections: unknown[][] = [];
  const call = {
    projectId: 'p',
    sipCallId: 'sip',
    fromNumber: '+886912345678',
    toNumber: '+886223456789',
    trunk: { id: 'trunk' },
    canceled: new AbortController().signal,
    ring: () => undefined,
    prepareMedia: () => undefined,
    reject: (...answer: unknown[]) => void rejections.push(answer),
    ...given,
  };
  return { call: call as unknown as InboundCall, rejections };
}

test.each([
  ['the node is full', { capacity: new NodeCapacity(0) }, {}, [503, 'overloaded', 5], ['node']],
  ['the node drains', { callRefusal: nodeDraining }, {}, [503, 'overloaded', 5], ['node']],
  ['the node is overloaded', { callRefusal: nodeOverloaded }, {}, [503, 'overloaded', 5], ['node']],
  ['the number is unknown', {}, {}, [404, 'unknown_number'], []],
  [
    'the number takes no calls',
    {},
    { number: { ...NUMBER, inboundEnabled: false } },
    [404, 'number_inactive'],
    [],
  ],
  [
    'the project has no free slot',
    { limiter: { startCall: async () => 'full' as const, endCall: unexpected } },
    { number: NUMBER },
    [503, 'overloaded', 5],
    [],
  ],
] satisfies [string, Partial<InboundCallDeps>, object, unknown[], string[]][])(
  'An inbound call is rejected and holds no slot when %s',
  async (_when, given, inbound, expected, counted) => {
    const refused: string[] = [];
    const capacity = new NodeCapacity(1);
    const metrics = { callRefused: (reason: string) => void refused.push(reason) };
    const { call, rejections } = makeInbound(inbound);
    await handleInboundCall(depsWith({ capacity, metrics, ...given }), call);
    expect([rejections, capacity.inUse, refused]).toEqual([[expected], 0, counted]);
  },
);

const AWAY = new Error('the database is away');

test.each([
  ['the caller hangs up before the answer', 'answer', 'canceled', 'caller_hangup'],
  ['the database’s answer to the insert is lost', 'insert', 'failed', 'trunk_error'],
] as const)(
  'The end of an unanswered inbound call is stored once the database is back when %s',
  async (_when, step, status, reason) => {
    const clock = createSimulatedClock();
    const capacity = new NodeCapacity(1);
    const canceled = new AbortController();
    const ends: unknown[] = [];
    const warned: string[] = [];
    let isAway = true;
    const deps = depsWith({
      calls: {
        async insert() {
          if (step === 'insert') throw AWAY;
        },
      },
      conversations: {
        prepare: async () => ({
          session: {} as never,
          started: { type: 'session_started', at: '', data: {} },
          recording: { inbound: true, outbound: true },
        }),
        start: async () => undefined,
      },
      slots: unused<TrunkSlots>('slots', { acquire: async () => 0, release: async () => undefined }),
      capacity,
      finisher: unused<CallFinisher>('finisher', {
        async finish({ id }, _nodeId, end) {
          if (isAway) throw AWAY;
          ends.push([id, end.status, end.endReason]);
          return undefined;
        },
      }),
      clock,
      onError: (_error, what) => warned.push(what),
    });
    const { call, rejections } = makeInbound({
      number: NUMBER,
      canceled: canceled.signal,
      async answer() {
        canceled.abort();
        throw new Error('The caller hung up before the answer');
      },
    });
    await handleInboundCall(deps, call);
    // The caller does not wait for the database.
    expect([rejections, capacity.inUse]).toEqual([step === 'insert' ? [[503, 'overloaded']] : [], 0]);
    expect(warned).toContain('end of an unanswered inbound call not stored, retrying');
    isAway = false;
    clock.advance(500);
    await new Promise((resolve) => setImmediate(resolve));
    expect(ends).toEqual([['call', status, reason]]);
    expect(clock.pendingTimers()).toBe(0);
  },
);

test('An inbound call that the agent rejects is rejected while it rings, with that status', async () => {
  const steps: unknown[] = [];
  const recording = { inbound: true, outbound: true };
  const session = draftSession({ projectId: 'p', sessionId: 's', channel: 'phone' }, '');
  const started = { type: 'session_started', at: '', data: {} } as const;
  const prepared = { session: { ...session, instanceId: 'instance' }, started, recording };
  const deps = depsWith({
    calls: { insert: async () => void steps.push('insert') },
    conversations: {
      async prepare({ variables, startNodeId }) {
        steps.push([variables, startNodeId]);
        return prepared;
      },
      async start({ call }) {
        steps.push(call);
        return { state: { rejectedWith: 486 } } as never;
      },
    },
    slots: unused<TrunkSlots>('slots', { acquire: async () => 0, release: unexpected }),
    liveEvents: { publish: ({ type }) => void steps.push(type) },
    finisher: unused<CallFinisher>('finisher', {
      async finish(_call, _nodeId, { status, endReason, sip }) {
        steps.push([status, endReason, sip]);
        return undefined;
      },
    }),
  });
  const { call, rejections } = makeInbound({
    number: { ...NUMBER, variables: { line: 'sales', tier: 'none' }, startNodeId: 'sales' },
    variables: { tier: 'gold' },
    ring: () => void steps.push('ring'),
    prepareMedia: (callId: string) => void steps.push(`media of ${callId}`),
    reject: (code: number) => {
      rejections.push([code]);
      return { code, reason: 'Busy Here' };
    },
  });
  await handleInboundCall(deps, call);
  const facts = { direction: 'inbound', fromNumber: '+886912345678', toNumber: '+886223456789' };
  expect(steps).toEqual([
    [{ line: 'sales', tier: 'gold' }, 'sales'],
    'media of call',
    'insert',
    'ring',
    'call.ringing',
    'session.started',
    { ...facts, callId: 'call', trunkId: 'trunk' },
    ['failed', 'rejected', { code: 486, reason: 'Busy Here' }],
  ]);
  expect([rejections, deps.capacity]).toEqual([[[486]], expect.objectContaining({ inUse: 0 })]);
});

const TEST_OF = { releaseId: 'release-2' } as never;
const MEDIA = { url: 'wss://bot.example', dialect: 'twilio' } as const;
test.each([
  [
    'that a number takes, as the number says',
    {
      number: {
        ...NUMBER,
        record: false,
        noiseSuppression: true,
        media: MEDIA,
        variables: { line: 'sales' },
      },
    },
    {
      toNumber: NUMBER.number,
      trunkId: 'trunk',
      isTest: false,
      settings: {
        ringTimeoutSeconds: 45,
        maxDurationSeconds: 3600,
        record: false,
        media: MEDIA,
        noiseSuppression: true,
        dynamicVariables: { line: 'sales', tier: 'gold' },
      },
    },
    ['start p inbound', 'acquire trunk', 'prepare call', 'insert', 'call.ringing', 'session.started'],
  ],
  [
    'of a simulated caller, which counts in no limit and is not told',
    {
      test: {
        projectId: 'p',
        callId: 'call',
        sessionId: 's',
        codec: 'PCMU',
        variables: { line: 'test' },
        test: TEST_OF,
        draft: true,
      },
    },
    {
      toNumber: 'test',
      trunkId: null,
      isTest: true,
      settings: {
        ringTimeoutSeconds: 45,
        maxDurationSeconds: 660,
        record: true,
        media: null,
        dynamicVariables: { line: 'test', tier: 'gold' },
      },
    },
    ['prepare call', 'insert'],
  ],
])(
  'An inbound call %s is stored, answered and handed to the runner',
  async (_what, given, stored, expected) => {
    const steps: string[] = [];
    const accepted: unknown[] = [];
    const session = { sessionId: 's', instanceId: 'i', state: {} } as never;
    const [leg, started] = [{}, { type: 'session_started', at: '', data: {} } as const];
    const capacity = new NodeCapacity(1);
    const deps = depsWith({
      capacity,
      limiter: {
        startCall: async ({ projectId, direction }) => {
          steps.push(`start ${projectId} ${direction}`);
          return 'started';
        },
        endCall: unexpected,
      },
      slots: unused<TrunkSlots>('slots', {
        async acquire({ id }) {
          steps.push(`acquire ${id}`);
          return 0;
        },
        release: unexpected,
      }),
      conversations: {
        prepare: async () => ({ session, started, recording: { inbound: true, outbound: false } }),
        start: async () => session,
      },
      calls: {
        insert: async (call) => {
          steps.push('insert');
          expect(call).toMatchObject({ ...stored, status: 'ringing' });
        },
      },
      runner: unused<CallRunner>('runner', { accept: (...args) => void accepted.push(args) }),
      liveEvents: { publish: ({ type }) => void steps.push(type) },
    });
    const { call } = makeInbound({
      variables: { tier: 'gold' },
      ...given,
      prepareMedia: (id: string) => void steps.push(`prepare ${id}`),
      answer: async () => leg,
    });
    await handleInboundCall(deps, call);
    expect(steps).toEqual(expected);
    const calls = expect.objectContaining({
      ...stored,
      id: 'call',
      nodeId: 'node',
      instanceId: 'i',
      sipCallId: 'sip',
    });
    expect(accepted).toEqual([[calls, leg, { session, readAhead: 'read ahead' }]]);
    expect(capacity.inUse).toBe(1);
  },
);

test('An inbound call without a free channel of its trunk is busy, and its project’s slot is free again', async () => {
  const [refused, freed]: [string[], string[]] = [[], []];
  const deps = depsWith({
    slots: unused<TrunkSlots>('slots', { acquire: async () => 2, release: unexpected }),
    limiter: { startCall: async () => 'started', endCall: async ({ id }) => void freed.push(id) },
    metrics: { callRefused: (reason) => void refused.push(reason) },
  });
  const { call, rejections } = makeInbound({ number: NUMBER });
  await handleInboundCall(deps, call);
  expect([rejections, refused, freed]).toEqual([[[486, 'overloaded']], ['trunk'], ['call']]);
});
