import { expect, test } from 'vitest';
import { newAgentConfig } from '../../../src/agents/agentConfig.ts';
import { nodeDraining, nodeOverloaded } from '../../../src/base/errors.ts';
import { noopTracer } from '../../../src/base/tracing.ts';
import type { CallMetrics } from '../../../src/calls/callMetrics.ts';
import type { CallStore } from '../../../src/calls/callStore.ts';
import type { CallLimiter } from '../../../src/calls/limits/callLimiter.ts';
import { CallPlaces } from '../../../src/calls/limits/callPlaces.ts';
import { NodeCapacity } from '../../../src/calls/limits/nodeCapacity.ts';
import { NodeCalls } from '../../../src/calls/nodes/nodeCalls.ts';
import type { CallRecordings } from '../../../src/calls/recording/callRecordings.ts';
import type { CallFinisher } from '../../../src/calls/runner/callFinisher.ts';
import type { CallRunner } from '../../../src/calls/runner/callRunner.ts';
import { CallSessions } from '../../../src/calls/setup/callSessions.ts';
import { handleInboundCall, type InboundCallDeps } from '../../../src/calls/setup/inboundCallHandler.ts';
import type { NumberLock } from '../../../src/calls/setup/numberLock.ts';
import type { InboundCall } from '../../../src/calls/telephony.ts';
import type { TrunkSlots } from '../../../src/calls/trunks/trunkSlots.ts';
import type { ConversationEngine } from '../../../src/engine/conversationEngine.ts';
import type { HistoryStore } from '../../../src/engine/history/historyStore.ts';
import type { RecoveryDeps } from '../../../src/engine/session/interruptedTurn.ts';
import type { ReleaseStore } from '../../../src/engine/session/releases.ts';
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

interface Given extends Partial<InboundCallDeps> {
  readonly capacity?: NodeCapacity;
  readonly insert?: CallStore['insert'];
  readonly finish?: CallFinisher['finish'];
  readonly prepare?: ConversationEngine['prepare'];
  readonly start?: ConversationEngine['start'];
  readonly slots?: Partial<TrunkSlots>;
  readonly limiter?: Partial<CallLimiter>;
  readonly callRefused?: CallMetrics['callRefused'];
}

/** Everything that a test does not name fails. */
function depsWith(given: Given): InboundCallDeps {
  const { capacity = new NodeCapacity(9), insert = unexpected, finish = unexpected } = given;
  const { prepare = unexpected, start = unexpected, slots, limiter, callRefused = () => undefined } = given;
  const onError = given.onError ?? (() => undefined);
  const conversations = unused<ConversationEngine>('conversations', { prepare, start });
  return {
    calls: new NodeCalls({
      nodeId: 'node',
      capacity,
      calls: unused<CallStore>('calls', { insert }),
      history: unused<HistoryStore>('history'),
      recordings: unused<CallRecordings>('recordings'),
      finisher: unused<CallFinisher>('finisher', { finish }),
    }),
    conversations,
    sessions: new CallSessions({
      conversations,
      releases: unused<ReleaseStore>('releases'),
      recovery: unused<RecoveryDeps>('recovery'),
      readAhead: async () => 'read ahead',
      onError,
    }),
    places: new CallPlaces({
      lock: unused<NumberLock>('lock'),
      slots: unused<TrunkSlots>('slots', slots),
      limiter: unused<CallLimiter>('limiter', {
        startCall: async () => 'started',
        endCall: async () => undefined,
        ...limiter,
      }),
      onError,
    }),
    metrics: unused<CallMetrics>('metrics', { callRefused }),
    runner: unused<CallRunner>('runner', { accept: () => expect.unreachable() }),
    callRefusal: () => undefined,
    clock: createSimulatedClock(),
    makeId: () => 'call',
    tracer: noopTracer,
    onError,
    ...given,
  };
}

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
] satisfies [string, Given, object, unknown[], string[]][])(
  'An inbound call is rejected and holds no slot when %s',
  async (_when, given, inbound, expected, counted) => {
    const refused: string[] = [];
    const capacity = new NodeCapacity(1);
    const callRefused = (reason: string) => void refused.push(reason);
    const { call, rejections } = makeInbound(inbound);
    await handleInboundCall(depsWith({ capacity, callRefused, ...given }), call);
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
      async insert() {
        if (step === 'insert') throw AWAY;
      },
      prepare: async () => ({
        session: {} as never,
        started: { type: 'session_started', at: '', data: {} },
        agent: newAgentConfig('Agent'),
      }),
      start: async () => undefined,
      slots: { acquire: async () => 0, release: async () => undefined },
      capacity,
      async finish({ id }, _nodeId, end) {
        if (isAway) throw AWAY;
        ends.push([id, end.status, end.endReason]);
        return undefined;
      },
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
  const session = draftSession({ projectId: 'p', sessionId: 's', channel: 'phone' }, '');
  const started = { type: 'session_started', at: '', data: {} } as const;
  const prepared = {
    session: { ...session, instanceId: 'instance' },
    started,
    agent: newAgentConfig('Agent'),
  };
  const capacity = new NodeCapacity(1);
  const deps = depsWith({
    capacity,
    insert: async () => void steps.push('insert'),
    async prepare({ variables, startNodeId }) {
      steps.push([variables, startNodeId]);
      return prepared;
    },
    async start({ call }) {
      steps.push(call);
      return { state: { rejectedWith: 486 } } as never;
    },
    slots: { acquire: async () => 0, release: async () => undefined },
    liveEvents: { publish: ({ type }) => void steps.push(type) },
    async finish(_call, _nodeId, { status, endReason, sip }) {
      steps.push([status, endReason, sip]);
      return undefined;
    },
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
  expect([rejections, capacity.inUse]).toEqual([[[486]], 0]);
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
      disclosures: [],
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
        direction: 'inbound',
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
      disclosures: [{ id: 'who', withinSeconds: 9, machines: true }],
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
  [
    'of a contact that is rehearsed is outbound to the agent',
    {
      test: {
        projectId: 'p',
        callId: 'call',
        direction: 'outbound',
        sessionId: 's',
        codec: 'PCMU',
        variables: { line: 'test' },
        test: TEST_OF,
        draft: true,
      },
    },
    {
      direction: 'outbound',
      toNumber: 'test',
      trunkId: null,
      isTest: true,
      disclosures: [{ id: 'why', withinSeconds: 9, machines: true }],
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
    const disclosures = (['inbound', 'outbound'] as const).map((direction) => ({
      id: direction === 'inbound' ? 'who' : 'why',
      text: 'Hello',
      withinSeconds: 9,
      direction,
    }));
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
      slots: {
        async acquire({ id }) {
          steps.push(`acquire ${id}`);
          return 0;
        },
      },
      prepare: async () => ({
        session,
        started,
        agent: { ...newAgentConfig('Agent'), recording: { inbound: true, outbound: false }, disclosures },
      }),
      start: async () => session,
      async insert(call) {
        steps.push('insert');
        expect(call).toMatchObject({ ...stored, status: 'ringing' });
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
    slots: { acquire: async () => 2, release: async () => undefined },
    limiter: { endCall: async ({ id }) => void freed.push(id) },
    callRefused: (reason) => void refused.push(reason),
  });
  const { call, rejections } = makeInbound({ number: NUMBER });
  await handleInboundCall(deps, call);
  expect([rejections, refused, freed]).toEqual([[[486, 'overloaded']], ['trunk'], ['call']]);
});
