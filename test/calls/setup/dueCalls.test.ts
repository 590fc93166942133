import { beforeEach, expect, test } from 'vitest';
import { callingHours } from '../../../src/agents/accounts/callingHours.ts';
import { CallwayError } from '../../../src/base/errors.ts';
import type { Call } from '../../../src/calls/call.ts';
import type { CallStore } from '../../../src/calls/callStore.ts';
import type { CallLimiter } from '../../../src/calls/limits/callLimiter.ts';
import type { CallingRules } from '../../../src/calls/numbers/doNotCall.ts';
import type { CallEnd, CallFinisher } from '../../../src/calls/runner/callFinisher.ts';
import { type DueCallsDeps, dueCallsWork } from '../../../src/calls/setup/dueCalls.ts';
import type { ConversationEngine } from '../../../src/engine/conversationEngine.ts';
import type { LeasedWork } from '../../../src/work/work.ts';
import { Worker } from '../../../src/work/worker.ts';
import { createFakeEngine } from '../../support/fakeEngine.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { unused } from '../../support/unused.ts';
import { AT, later, makeCall } from '../support/makeCall.ts';

const QUARTER_HOUR_MS = 15 * 60_000;
const DUE_MS = 5_000;
const RETRY_MS = 10_000;

let clock: ReturnType<typeof createSimulatedClock>;
let stored: Call;
let dueAtMs: number;
let holder: string | undefined;
let problem: Error | undefined;
let queue: string[];
let ended: CallEnd[];
let errors: string[];
let rules: CallingRules;

beforeEach(() => {
  clock = createSimulatedClock(Date.parse(AT));
  stored = makeCall({ status: 'scheduled', nodeId: null, notBefore: later(5) });
  dueAtMs = Date.parse(stored.notBefore ?? '');
  [holder, problem, queue, ended, errors] = [undefined, undefined, [], [], []];
  rules = { isListed: false, callingHours: null };
});

const deps = (): DueCallsDeps => ({
  clock,
  calls: unused<CallStore>('calls', {
    find: async () => stored,
    async queueScheduled(call) {
      if (stored.status !== 'scheduled') return undefined;
      stored = { ...call, status: 'queued' };
      return stored;
    },
    async postpone(_id, _node, notBefore) {
      stored = { ...stored, status: 'scheduled', notBefore };
      dueAtMs = Date.parse(notBefore);
    },
  }),
  conversations: unused<ConversationEngine>('conversations'),
  callingRules: async () => rules,
  lock: {
    async acquire(_project, _number, callId) {
      if (holder !== undefined) return undefined;
      holder = callId;
      return 1;
    },
    renew: async () => true,
    async release(_project, _number, callId) {
      if (holder === callId) holder = undefined;
    },
  },
  limiter: unused<CallLimiter>('limiter', {
    async admitOrder() {
      if (problem) throw problem;
    },
  }),
  finisher: unused<CallFinisher>('finisher', {
    async finish(call, _node, end) {
      ended.push(end);
      stored = { ...stored, ...end };
      return call as Call;
    },
  }),
  wakeDialers: async (callId) => void queue.push(callId),
  onError: (_error, what) => void errors.push(what),
});

/** The stored call, while it is scheduled. */
const rows: LeasedWork = {
  async claimDue(now) {
    const isDue = stored.status === 'scheduled' && dueAtMs <= now.getTime();
    return { claimed: isDue ? [{ id: stored.id, projectId: stored.projectId }] : [], nextDueAt: null };
  },
  renew: async (ids) => new Set(ids),
  async settle(_id, nextAt) {
    // The claim of a postponed call has ended.
    if (nextAt === null && stored.status === 'scheduled') return;
    dueAtMs = nextAt?.getTime() ?? Number.POSITIVE_INFINITY;
  },
};

/** Lets time pass, and places what is due then. */
const after = async (ms: number, change: Partial<DueCallsDeps> = {}) => {
  clock.advance(ms);
  const changed = { ...deps(), ...change };
  await new Worker({ ...changed, ...dueCallsWork(changed, rows), finishMs: 1 }).close();
};
const lockElsewhere = () => {
  holder = 'another';
};
const refuseFor = (reason: Error) => {
  problem = reason;
};
const limit = (code: string, category: 'rate_limited' | 'unprocessable' = 'rate_limited') =>
  new CallwayError(category, code, 'no');

test('A scheduled call is queued when it is due, and not before', async () => {
  await after(DUE_MS - 1);
  expect([stored.status, holder]).toEqual(['scheduled', undefined]);
  await after(1);
  expect([stored.status, holder, queue]).toEqual(['queued', stored.id, [stored.id]]);
});

test('A call owes the disclosures of the release that it is placed on, not of that on which it was ordered', async () => {
  stored = { ...stored, release: 1, disclosures: [{ id: 'old', withinSeconds: 5, machines: true }] };
  const disclosures = [{ id: 'new', text: 'Hello', withinSeconds: 9, direction: 'outbound' as const }];
  const engine = createFakeEngine();
  await after(DUE_MS, {
    conversations: unused<ConversationEngine>('conversations', {
      async prepareAgain(wanted) {
        const prepared = await engine.prepare(wanted);
        const { agent, session } = prepared;
        return { ...prepared, session: { ...session, release: 2 }, agent: { ...agent, disclosures } };
      },
    }),
  });
  expect(stored).toMatchObject({ release: 2, disclosures: [{ id: 'new', withinSeconds: 9 }] });
});

test.each([
  ['its number is in another call', lockElsewhere, []],
  ['its project has reached its rate', () => refuseFor(limit('call_rate_exceeded')), []],
  [
    'a store is away',
    () => refuseFor(new Error('away')),
    Array(2).fill('scheduled calls not finished, retrying later'),
  ],
])('A call is placed later while %s', async (_why, disturb, expected) => {
  disturb();
  await after(DUE_MS);
  await after(RETRY_MS - 1);
  await after(1);
  expect([stored.status, ended, queue, errors]).toEqual(['scheduled', [], [], expected]);
  [holder, problem] = [undefined, undefined];
  await after(RETRY_MS);
  expect([stored.status, queue]).toEqual(['queued', [stored.id]]);
});

test.each([
  ['its number stays in another call', 'number_already_queued', lockElsewhere],
  ['the rate stays reached', 'rejected', () => refuseFor(limit('call_rate_exceeded'))],
])('A call fails after a quarter of an hour where %s', async (_why, endReason, disturb) => {
  disturb();
  await after(DUE_MS + QUARTER_HOUR_MS);
  expect(ended).toEqual([]);
  await after(RETRY_MS);
  expect(ended).toEqual([expect.objectContaining({ status: 'failed', endReason })]);
  expect([queue, errors]).toEqual([[], []]);
});

test.each([
  ['the day’s minutes are used', limit('call_minutes_exhausted')],
  ['its destination is allowed no longer', limit('destination_not_allowed', 'unprocessable')],
])('A call fails at once where %s, and its number is free', async (_why, reason) => {
  problem = reason;
  await after(DUE_MS);
  expect(ended).toEqual([expect.objectContaining({ status: 'failed', endReason: 'rejected' })]);
  expect([holder, queue, errors]).toEqual([undefined, [], []]);
});

test('A call that is canceled while it becomes due leaves no lock', async () => {
  await after(DUE_MS, {
    limiter: unused<CallLimiter>('limiter', {
      async admitOrder() {
        stored = { ...stored, status: 'canceled' };
      },
    }),
  });
  expect([stored.status, holder, queue]).toEqual(['canceled', undefined, []]);
});

// It is 08:00 in Taipei, and midnight in London.
const HOURS = callingHours.parse({
  timezone: 'Europe/London',
  windows: [{ days: ['thu'], from: '08:00', to: '21:00' }],
  appliesTo: ['api', 'callback'],
});

test.each<[string, CallingRules]>([
  ['do_not_call', { isListed: true, callingHours: HOURS }],
  ['outside_calling_hours', { isListed: false, callingHours: HOURS }],
])(
  'A scheduled call that may not be placed when it is due ends as canceled with %s',
  async (endReason, now) => {
    rules = now;
    await after(DUE_MS);
    expect(ended).toMatchObject([{ status: 'canceled', endReason }]);
    expect([holder, queue, errors]).toEqual([undefined, [], []]);
  },
);

test('A callback that is due outside of the calling hours waits for the next allowed time', async () => {
  stored = { ...stored, settings: { ...stored.settings, isCallback: true } };
  rules = { isListed: false, callingHours: HOURS };
  await after(DUE_MS);
  expect(stored).toMatchObject({ status: 'scheduled', notBefore: later(8 * 3600) });
  await after(8 * 3600 * 1000);
  expect([stored.status, queue, ended]).toEqual(['queued', [stored.id], []]);
});
