import { beforeEach, describe, expect, test } from 'vitest';
import { nodeDraining, nodeOverloaded, unavailable } from '../../../src/base/errors.ts';
import type { Call } from '../../../src/calls/call.ts';
import type { CallStore } from '../../../src/calls/callStore.ts';
import type { CallLimiter } from '../../../src/calls/limits/callLimiter.ts';
import { NodeCapacity } from '../../../src/calls/limits/nodeCapacity.ts';
import { voiceUnavailable } from '../../../src/calls/nodes/voiceNodeSelector.ts';
import type { PhoneNumber } from '../../../src/calls/numbers/phoneNumber.ts';
import type { PhoneNumberStore } from '../../../src/calls/numbers/phoneNumberStore.ts';
import type { CallFinisher } from '../../../src/calls/runner/callFinisher.ts';
import type { CallRunner } from '../../../src/calls/runner/callRunner.ts';
import { type DialerDeps, dialingWork } from '../../../src/calls/setup/dialer.ts';
import type { Trunk } from '../../../src/calls/trunks/trunk.ts';
import type { TrunkHealthStore } from '../../../src/calls/trunks/trunkHealth.ts';
import type { TrunkSlots } from '../../../src/calls/trunks/trunkSlots.ts';
import type { TrunkStore } from '../../../src/calls/trunks/trunkStore.ts';
import type { LeasedWork } from '../../../src/work/work.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { unused } from '../../support/unused.ts';
import { makeCall } from '../support/makeCall.ts';

const QUEUE = { id: 'queue', projectId: 'project' };
const NOW = '2026-01-01T00:00:00.000Z';

/** The stored calls that wait, in their order. */
let waiting: Call[];
/** What each trunk answers: ms to wait, 0 for a free channel. */
let trunkMs: Record<string, number>;
let admission: 'started' | 'full' | 'refused';
let refusal: ReturnType<DialerDeps['callRefusal']>;
let failing: string[];
let failure: Error;
let capacity: NodeCapacity;
let clock: ReturnType<typeof createSimulatedClock>;
let log: string[];

const note = async (what: string) => {
  log.push(what);
  if (failing.includes(what)) throw failure;
};
const queued = (id: string, change: Partial<Call> = {}) =>
  makeCall({ id, status: 'queued', nodeId: null, fromNumber: '+1', ...change });
const callOf = (id: string) => waiting.find((call) => call.id === id);

beforeEach(() => {
  clock = createSimulatedClock(Date.parse(NOW));
  capacity = new NodeCapacity(5);
  [waiting, trunkMs, log] = [[], { t: 0 }, []];
  [admission, refusal, failing] = ['started', undefined, []];
});

const work = () => {
  const deps: DialerDeps = {
    nodeId: 'node',
    calls: unused<CallStore>('calls', {
      async claim(id, nodeId) {
        const call = callOf(id);
        if (!call) return undefined;
        await note(`claim ${id}`);
        waiting = waiting.filter((one) => one !== call);
        return { ...call, nodeId };
      },
      async releaseClaim(id) {
        await note(`release ${id}`);
        return id === 'unwanted';
      },
      async requestHangup(_projectId, id) {
        await note(`cancel ${id}`);
        return queued(id, { status: 'canceled' });
      },
    }),
    waiting: {
      first: async () => [...waiting],
      async closeQueue(id) {
        await note(`close ${id}`);
        return true;
      },
      isLeft: async () => false,
    },
    // A number's trunks are named after it, but those of +1.
    phoneNumbers: unused<PhoneNumberStore>('numbers', {
      findByNumber: async (_projectId, number) =>
        ({
          outboundStatus: 'active',
          trunkIds: number === '+1' ? Object.keys(trunkMs) : [number],
        }) as Partial<PhoneNumber> as PhoneNumber,
    }),
    trunks: unused<TrunkStore>('trunks', {
      activeOf: async () => Object.keys(trunkMs).map((id) => ({ id }) as Partial<Trunk> as Trunk),
    }),
    health: unused<TrunkHealthStore>('health', { read: async () => new Map() }),
    slots: unused<TrunkSlots>('slots', {
      async acquire({ id }, callId) {
        await note(`ask ${id} for ${callId}`);
        return trunkMs[id] ?? 0;
      },
    }),
    limiter: unused<CallLimiter>('limiter', {
      startCall: async () => admission,
      endCall: ({ id }) => note(`end ${id}`),
    }),
    capacity,
    runner: unused<CallRunner>('runner', {
      dial: ({ id }, [trunk, ...others]) =>
        void log.push(`dial ${id} over ${trunk?.id}, then ${others.length}`),
    }),
    endsOrWaits: async () => false,
    callRefusal: () => refusal,
    finisher: unused<CallFinisher>('finisher', {
      async finish({ id }, nodeId, { status, endReason, endedAt }) {
        expect([nodeId, endedAt]).toEqual(['node', NOW]);
        await note(`finish ${id} ${status} ${endReason}`);
        return undefined;
      },
      settleCanceled: ({ id }) => note(`settle ${id}`),
    }),
    clock,
    onError: (_error, what) => void log.push(what),
  };
  return dialingWork(deps, unused<LeasedWork>('rows'));
};
const run = () => work().run(QUEUE, new AbortController().signal);

describe('The calls of a project are dialed', () => {
  test('in their order, each on the first of its trunks with a channel, two until any node goes on', async () => {
    trunkMs = { full: 1500, free: 0, spare: 0 };
    waiting = [queued('a'), queued('b'), queued('c')];
    expect(await run()).toEqual({ afterMs: 0 });
    expect(log).toEqual([
      'claim a',
      'ask full for a',
      'ask free for a',
      'dial a over free, then 1',
      // One that was full is not asked again.
      'claim b',
      'ask free for b',
      'dial b over free, then 1',
    ]);
    expect(await run()).toBeUndefined();
    expect(log.slice(-2)).toEqual(['dial c over free, then 1', 'close queue']);
    expect(capacity.inUse).toBe(3);
  });

  test.each([
    ['full', 1500, 500],
    ['at its calls per second', 120, 120],
  ])(
    'once a trunk that is %s may take one; however many wait, it is asked once',
    async (_what, ms, afterMs) => {
      trunkMs = { t: ms };
      waiting = Array.from({ length: 10 }, (_, n) => queued(`${n}`));
      expect(await run()).toEqual({ afterMs });
      expect(log).toEqual(['claim 0', 'ask t for 0', 'end 0', 'release 0']);
      expect(capacity.inUse).toBe(0);
    },
  );

  test('over the trunk of another number while that of the first is full', async () => {
    trunkMs = { '+2': 1500, '+3': 0 };
    waiting = [queued('a', { fromNumber: '+2' }), queued('b', { fromNumber: '+3' })];
    expect(await run()).toBeUndefined();
    expect(log).toContain('dial b over +3, then 0');
  });

  test('after a while where the project is at its limit of calls', async () => {
    [admission, waiting] = ['full', [queued('a'), queued('b')]];
    expect(await run()).toEqual({ afterMs: 500 });
    expect(log).toEqual(['claim a', 'end a', 'release a']);
  });
});

test.each<[string, Partial<Call>, () => void, string]>([
  ['a hang-up was requested', { hangupRequested: true }, () => undefined, 'canceled api_hangup'],
  [
    'the project’s limits forbid it',
    {},
    () => {
      admission = 'refused';
    },
    'failed rejected',
  ],
  ['its number has no trunk', { fromNumber: '+9' }, () => undefined, 'failed trunk_error'],
])('A waiting call is ended where %s', async (_why, change, prepare, end) => {
  waiting = [queued('a', change)];
  prepare();
  expect(await run()).toBeUndefined();
  expect(log).toEqual(['claim a', `finish a ${end}`, 'close queue']);
  expect(capacity.inUse).toBe(0);
});

test('A call whose hang-up was requested while no trunk had a channel is canceled', async () => {
  [trunkMs, waiting] = [{ t: 1500 }, [queued('unwanted')]];
  await run();
  expect(log.slice(-3)).toEqual(['release unwanted', 'cancel unwanted', 'settle unwanted']);
});

test('A call that still runs here, on a node that was taken for dead, is not dialed again', async () => {
  waiting = [queued('a'), queued('b')];
  capacity.acquire('a');
  await run();
  waiting = [queued('a')];
  expect(await run()).toEqual({ afterMs: 500 });
  expect(log.filter((what) => what.endsWith('a'))).toEqual([]);
  expect(capacity.has('a')).toBe(true);
});

test('A call whose dialing fails of a defect holds up no other', async () => {
  waiting = [queued('a'), queued('b')];
  [failing, failure] = [['ask t for a'], new Error('a defect')];
  expect(await run()).toBeUndefined();
  expect(log).toContain('waiting call not dialed, retrying');
  expect(log).toContain('dial b over t, then 0');
});

describe('A node', () => {
  test('that is full claims nothing, and leaves calls to others', async () => {
    capacity = new NodeCapacity(2);
    capacity.acquire('other');
    waiting = [queued('a'), queued('b')];
    expect(work().room?.()).toBe(1);
    expect(await run()).toEqual({ afterMs: 0 });
    expect([work().room?.(), log.at(-1)]).toEqual([0, 'dial a over t, then 0']);
  });

  test.each([
    ['is overloaded', nodeOverloaded()],
    ['cannot speak', voiceUnavailable()],
    ['shuts down', nodeDraining()],
  ])('that %s claims nothing', async (_what, why) => {
    [refusal, waiting] = [why, [queued('a')]];
    expect(work().room?.()).toBe(0);
    expect(await run()).toEqual({ afterMs: 0 });
    expect([log, capacity.inUse]).toEqual([[], 0]);
  });

  test('that stops dials no more', async () => {
    waiting = [queued('a')];
    expect(await work().run(QUEUE, AbortSignal.abort())).toEqual({ afterMs: 0 });
    expect(log).toEqual([]);
  });
});

test.each([
  ['Redis is away', 'ask t for a', unavailable('redis', 'gone'), { afterMs: 1_000 }],
  // The claim was stored; only the answer was lost.
  ['the database is away', 'claim a', unavailable('database', 'gone'), { afterMs: 1_000 }],
  ['of a defect', 'ask t for a', new Error('a defect'), { afterMs: 5_000 }],
])(
  'The claim of a call that is not dialed because %s is released once that succeeds',
  async (_why, step, error, end) => {
    waiting = [queued('a')];
    [failing, failure] = [[step, 'release a'], error];
    expect(await run()).toEqual(end);
    const pass = async (ms: number) => {
      clock.advance(ms);
      await new Promise((resolve) => setImmediate(resolve));
    };
    const releases = () => log.filter((what) => what === 'release a').length;
    await pass(500);
    expect(releases()).toBe(2);
    failing = [];
    await pass(1_000);
    await pass(10_000);
    expect([releases(), capacity.inUse, clock.pendingTimers()]).toEqual([3, 0, 0]);
  },
);
