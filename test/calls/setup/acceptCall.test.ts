import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { type CallingHours, callingHours } from '../../../src/agents/accounts/callingHours.ts';
import { type AgentConfig, newAgentConfig } from '../../../src/agents/agentConfig.ts';
import { CallwayError, nodeDraining, nodeOverloaded } from '../../../src/base/errors.ts';
import { noopTracer } from '../../../src/base/tracing.ts';
import type { Call } from '../../../src/calls/call.ts';
import type { CallStore } from '../../../src/calls/callStore.ts';
import type { CallLimiter } from '../../../src/calls/limits/callLimiter.ts';
import type { CallingRules } from '../../../src/calls/numbers/doNotCall.ts';
import { type PhoneNumber, phoneNumberInput } from '../../../src/calls/numbers/phoneNumber.ts';
import type { PhoneNumberStore } from '../../../src/calls/numbers/phoneNumberStore.ts';
import { type AcceptCallDeps, acceptCall } from '../../../src/calls/setup/acceptCall.ts';
import type { InsertOnce, OutboundOrder } from '../../../src/calls/setup/outboundOrder.ts';
import { callbackScheduler } from '../../../src/calls/setup/scheduleCallback.ts';
import { type Trunk, trunkInput } from '../../../src/calls/trunks/trunk.ts';
import type { TrunkStore } from '../../../src/calls/trunks/trunkStore.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { unused } from '../../support/unused.ts';
import { AT, later, makeCall } from '../support/makeCall.ts';

const FROM = '+886223456789';
const TO = '+886912345678';

const makeTrunk = (id: string, change: Partial<Trunk> = {}): Trunk => ({
  ...trunkInput.parse({ name: 't', host: 'h' }),
  id,
  projectId: 'p',
  createdAt: AT,
  updatedAt: AT,
  ...change,
});
const makeNumber = (change: Partial<PhoneNumber> = {}): PhoneNumber => ({
  ...phoneNumberInput.parse({ number: FROM }),
  media: null,
  id: 'n',
  verified: true,
  createdAt: AT,
  updatedAt: AT,
  ...change,
});

let phoneNumber: PhoneNumber | undefined;
let trunks: Trunk[];
let holder: string | undefined;
let renewed: string[];
let queue: string[];
let inserted: Call[];
let warned: string[];
let renewalFails: boolean;
let ids: number;
let refusal: CallwayError | undefined;
let nodeRefusal: CallwayError | undefined;
let callbacksToday = 0;
let refused: string[];
let replaced: [number: string, at: string][];
let published: string[];
let replacedCalls: Call[];
let rules: CallingRules;
let agent: AgentConfig;

/** It is 08:00 in Taipei when the tests begin. */
const DAY = callingHours.parse({
  windows: [{ days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'], from: '08:00', to: '21:00' }],
});
const NIGHT: CallingHours = { ...DAY, timezone: 'Europe/London', appliesTo: ['api'] };

const deps: AcceptCallDeps = {
  phoneNumbers: unused<PhoneNumberStore>('phoneNumbers', {
    findByNumber: async (_projectId, number) => (number === FROM ? phoneNumber : undefined),
  }),
  trunks: unused<TrunkStore>('trunks', { activeOf: async () => trunks }),
  conversations: {
    prepare: async (wanted) => ({
      session: { ...wanted, instanceId: 'instance' } as never,
      started: { type: 'session_started', at: AT, data: {} },
      agent,
    }),
  },
  callingRules: async () => rules,
  lock: {
    async acquire(_projectId, number, callId) {
      expect(number).toBe(TO);
      if (holder !== undefined) return undefined;
      holder = callId;
      return 1;
    },
    async renew(_projectId, number, callId) {
      expect(number).toBe(TO);
      if (renewalFails) throw new Error('Redis is away');
      // Not before the call is stored: until then the lock has a short lease.
      expect(inserted.map(({ id }) => id)).toContain(callId);
      renewed.push(callId);
      return true;
    },
    async release(_projectId, _number, callId) {
      if (holder === callId) holder = undefined;
    },
  },
  limiter: unused<CallLimiter>('limiter', {
    async admitOrder(_projectId, toNumber) {
      expect(toNumber).toBe(TO);
      if (refusal) throw refusal;
    },
    async requireAllowedDestination(_projectId, toNumber) {
      expect(toNumber).toBe(TO);
      if (refusal) throw refusal;
    },
  }),
  wakeDialers: async (callId) => void queue.push(callId),
  clock: createSimulatedClock(Date.parse(AT)),
  makeId: () => {
    ids += 1;
    return `id-${ids}`;
  },
  metrics: { callRefused: (reason) => void refused.push(reason) },
  orderRefusal: () => nodeRefusal,
  liveEvents: { publish: ({ type }) => void published.push(type) },
  tracer: noopTracer,
  onError: (_error, what) => void warned.push(what),
};
const insertOnce: InsertOnce = (insert) =>
  insert({
    calls: unused<CallStore>('calls', {
      insert: async (call) => void inserted.push(call),
      async replaceCallbacks(_projectId, toNumber, at) {
        replaced.push([toNumber, at]);
        return replacedCalls;
      },
      countCallbacks: async (_projectId, _toNumber, since) => {
        expect(since).toMatch(/^\d{4}-\d\d-\d\dT00:00:00.000Z$/);
        return callbacksToday;
      },
    }),
    quotas: {
      lockAndRead: async (_projectId, name) => {
        expect(name).toBe('scheduledCalls');
        return { used: inserted.length, limit: 2 };
      },
      readAll: () => Promise.reject(new Error('not used here')),
    },
  });
const order = (change: Partial<OutboundOrder> = {}): OutboundOrder => ({
  projectId: 'p',
  fromNumber: '0223456789',
  toNumber: '0912345678',
  ringTimeoutSeconds: 45,
  maxDurationSeconds: 3600,
  record: true,
  detectAnsweringMachine: true,
  draft: false,
  ...change,
});
const accept = (change: Partial<OutboundOrder> = {}, insert = insertOnce) =>
  acceptCall(deps, order(change), insert);

beforeEach(() => {
  [phoneNumber, trunks, holder, ids] = [makeNumber(), [makeTrunk('t')], undefined, 0];
  [queue, inserted, renewed, warned, refusal, renewalFails] = [[], [], [], [], undefined, false];
  [nodeRefusal, refused, replaced, published, replacedCalls] = [undefined, [], [], [], []];
  agent = newAgentConfig('Agent');
  rules = { isListed: false, callingHours: null };
});

describe('acceptCall', () => {
  test('places a call of a campaign behind all others, and leaves them some of the project’s limits', async () => {
    await accept({ campaign: { campaignId: 'campaign', contactId: 'contact' } });
    expect(inserted[0]).toMatchObject({ campaignId: 'campaign', contactId: 'contact', priority: 1 });
    holder = undefined;
    await accept();
    expect(inserted[1]).toMatchObject({ campaignId: null, contactId: null, priority: 0 });
  });

  test('locks the number, stores the call, and queues it', async () => {
    const [metadata, externalId] = [{ order: 7 }, 'order-7'];
    expect(await accept({ metadata, externalId })).toEqual({
      success: true,
      callId: 'id-1',
      sessionId: 'id-2',
    });
    expect([holder, renewed, queue]).toEqual(['id-1', ['id-1'], ['id-1']]);
    expect(published).toEqual(['call.queued', 'session.started']);
    expect(inserted).toEqual([
      expect.objectContaining({
        id: 'id-1',
        sessionId: 'id-2',
        instanceId: 'instance',
        status: 'queued',
        direction: 'outbound',
        fromNumber: FROM,
        toNumber: TO,
        metadata,
        externalId,
        createdAt: AT,
        settings: {
          ringTimeoutSeconds: 45,
          maxDurationSeconds: 3600,
          record: true,
          media: null,
          detectAnsweringMachine: true,
          asGiven: { fromNumber: '0223456789', toNumber: '0912345678' },
        },
      }),
    ]);
  });

  test('takes the media target of the order, else of the number', async () => {
    const media = { url: 'wss://example.com/number', dialect: 'callway' } as const;
    phoneNumber = makeNumber({ media });
    await accept();
    holder = undefined;
    const own = { url: 'wss://example.com/order', dialect: 'twilio' } as const;
    await accept({ media: own });
    expect(inserted.map(({ settings }) => settings.media)).toEqual([media, own]);
  });

  test('has the noise suppression of its number, which may leave it to the agent', async () => {
    for (const noiseSuppression of [null, true, false]) {
      [phoneNumber, holder] = [makeNumber({ noiseSuppression }), undefined];
      await accept();
    }
    expect(inserted.map(({ settings }) => settings.noiseSuppression)).toEqual([undefined, true, false]);
  });

  test.each([
    [undefined, null, { outbound: true }, true],
    [null, null, { outbound: false }, false],
    [undefined, true, { outbound: false }, true],
    [undefined, false, { outbound: true }, false],
    [true, false, { outbound: false }, true],
    [false, true, { outbound: true }, false],
  ])(
    'records as the call says, else its number, else the agent: %s, %s, %o',
    async (asked, own, recording, expected) => {
      agent = { ...agent, recording: { inbound: false, ...recording } };
      phoneNumber = makeNumber({ record: own });
      await accept({ record: asked });
      expect(inserted.map(({ settings }) => settings.record)).toEqual([expected]);
    },
  );

  test.each([
    ['the agent', {}, ['outbound', 'both']],
    ['a bot of its own', { media: { url: 'wss://bot.example', dialect: 'callway' } }, []],
  ] as const)('to %s owes the disclosures of outbound calls: %o', async (_whom, change, owed) => {
    const one = (direction: 'inbound' | 'outbound' | 'both') => ({
      id: direction,
      text: 'Hi',
      withinSeconds: 9,
      direction,
    });
    agent = { ...agent, disclosures: [one('inbound'), one('outbound'), { ...one('both'), machines: false }] };
    await accept(change);
    expect(inserted[0]?.disclosures.map(({ id }) => id)).toEqual(owed);
    for (const { withinSeconds, machines, id } of inserted[0]?.disclosures ?? [])
      expect([withinSeconds, machines]).toEqual([9, id === 'outbound']);
  });

  test.each([
    ['an unreadable fromNumber', 'invalid_number', 'invalid', () => ({ fromNumber: '12' })],
    ['an unreadable toNumber', 'invalid_number', 'invalid', () => ({ toNumber: '+886 912' })],
    ['a foreign fromNumber', 'from_number_not_configured', 'not_found', () => ({ fromNumber: TO })],
    [
      'an inactive fromNumber',
      'from_number_inactive',
      'not_found',
      () => {
        phoneNumber = makeNumber({ outboundStatus: 'inactive' });
        return {};
      },
    ],
    [
      'a listed number, at whatever time,',
      'do_not_call',
      'unprocessable',
      () => {
        rules = { isListed: true, callingHours: NIGHT };
        return {};
      },
    ],
    [
      'a time outside of the calling hours of orders',
      'outside_calling_hours',
      'unprocessable',
      () => {
        rules = { isListed: false, callingHours: NIGHT };
        return {};
      },
    ],
    [
      'a due time outside of the calling hours of orders',
      'outside_calling_hours',
      'unprocessable',
      () => {
        rules = { isListed: false, callingHours: { ...DAY, appliesTo: ['api'] } };
        return { notBefore: later(14 * 3600) };
      },
    ],
    [
      'no active trunk at all',
      'no_active_trunk',
      'not_found',
      () => {
        trunks = [];
        return {};
      },
    ],
    [
      'no active trunk among its own',
      'no_active_trunk',
      'not_found',
      () => {
        phoneNumber = makeNumber({ trunkIds: ['another'] });
        return {};
      },
    ],
  ])('refuses %s', async (_what, code, category, change) => {
    await expect(accept(change())).rejects.toMatchObject({ code, category });
    expect([holder, queue, inserted]).toEqual([undefined, [], []]);
  });

  test.each([
    ['drains', nodeDraining(), 'node_draining'],
    ['is overloaded', nodeOverloaded(), 'node_overloaded'],
  ])('refuses every call while the node %s, with the time to wait', async (_why, why, code) => {
    nodeRefusal = why;
    const expected = { category: 'unavailable', code, retryAfterSeconds: 5 };
    await expect(accept()).rejects.toMatchObject(expected);
    expect([holder, queue, inserted, refused]).toEqual([undefined, [], [], ['node']]);
  });

  test('refuses a number that another call has locked', async () => {
    holder = 'another';
    await expect(accept()).rejects.toMatchObject({ code: 'number_already_queued', category: 'conflict' });
    expect([holder, queue, inserted]).toEqual(['another', [], []]);
  });

  test('releases the lock when a limit of the project refuses the call', async () => {
    refusal = new CallwayError('forbidden', 'destination_not_allowed', 'no');
    await expect(accept()).rejects.toBe(refusal);
    expect([holder, queue, inserted]).toEqual([undefined, [], []]);
  });

  test('releases the lock when the call is not stored', async () => {
    const away = new CallwayError('unavailable', 'database_unavailable', 'away');
    await expect(accept({}, () => Promise.reject(away))).rejects.toBe(away);
    expect([holder, queue]).toEqual([undefined, []]);
  });

  test('releases the lock and queues nothing for a repeated request', async () => {
    const earlier = { success: true, callId: 'earlier', sessionId: 's' } as const;
    expect(await accept({}, async () => earlier)).toBe(earlier);
    expect([holder, queue, inserted]).toEqual([undefined, [], []]);
  });

  test('succeeds once the call is stored, even while Redis is away', async () => {
    renewalFails = true;
    expect(await accept()).toMatchObject({ success: true, callId: 'id-1' });
    expect(holder).toBe('id-1');
    expect(warned).toEqual([expect.stringMatching(/lock.*sweeper/)]);
  });
});

describe('A call for later', () => {
  const DAYS_30 = 30 * 86_400;

  test.each([
    ['2026-01-01T00:00:01Z', later(1)],
    ['2026-01-01T09:00:00+08:00', later(3600)],
    [later(DAYS_30), later(DAYS_30)],
  ])('is scheduled at %s, without its number', async (notBefore, due) => {
    expect(await accept({ notBefore })).toEqual({ success: true, callId: 'id-1', sessionId: 'id-2' });
    expect(inserted).toEqual([expect.objectContaining({ status: 'scheduled', notBefore: due })]);
    expect([holder, renewed, queue]).toEqual([undefined, [], []]);
  });

  test.each([null, undefined, AT, '2025-12-31T23:00:00Z', '2026-01-01T08:00:00+08:00'])(
    'is placed at once where its time is %s',
    async (notBefore) => {
      await accept({ notBefore });
      expect(inserted).toEqual([expect.objectContaining({ status: 'queued', notBefore: null })]);
      expect(queue).toEqual(['id-1']);
    },
  );

  test('needs no capacity now', async () => {
    nodeRefusal = nodeOverloaded();
    await accept({ notBefore: later(60) });
    expect([inserted.length, refused]).toEqual([1, []]);
    await expect(accept({ notBefore: AT })).rejects.toBe(nodeRefusal);
  });

  test('is refused more than 30 days ahead, where it may not go, and over the quota', async () => {
    const notBefore = later(60);
    await expect(accept({ notBefore: later(DAYS_30 + 1) })).rejects.toMatchObject({
      code: 'not_before_too_late',
      details: [expect.objectContaining({ path: '/notBefore' })],
    });
    refusal = new CallwayError('unprocessable', 'destination_not_allowed', 'no');
    await expect(accept({ notBefore })).rejects.toBe(refusal);
    expect(inserted).toEqual([]);
    refusal = undefined;
    await accept({ notBefore });
    await accept({ notBefore });
    await expect(accept({ notBefore })).rejects.toMatchObject({ code: 'quota_exceeded' });
  });

  test.each([
    ['inbound', TO, FROM],
    ['outbound', FROM, TO],
  ] as const)(
    'is a callback to the person of an %s session, which knows why',
    async (direction, from, to) => {
      const call = { direction, fromNumber: from, toNumber: to, callId: 'before', trunkId: null };
      replacedCalls = [makeCall({ status: 'canceled', endedAt: AT })];
      const schedule = callbackScheduler({ ...deps, insertOnce });
      await schedule({
        projectId: 'p',
        sessionId: 'first',
        call,
        variables: { name: 'Ada' },
        notBefore: later(60),
        reason: 'the invoice',
      });
      const callback = { previousSessionId: 'first', reason: 'the invoice' };
      expect(inserted).toEqual([
        expect.objectContaining({
          status: 'scheduled',
          fromNumber: FROM,
          toNumber: TO,
          settings: expect.objectContaining({
            isCallback: true,
            dynamicVariables: { name: 'Ada', callback },
          }),
        }),
      ]);
      expect(replaced).toEqual([[TO, AT]]);
      expect(published).toEqual(['call.ended', 'session.started']);
    },
  );

  test.each([
    [2, 1],
    [3, 0],
  ])('is no callback to a number with %i of them on that day', async (scheduled, kept) => {
    callbacksToday = scheduled;
    onTestFinished(() => {
      callbacksToday = 0;
    });
    const call = {
      direction: 'inbound',
      fromNumber: TO,
      toNumber: FROM,
      callId: 'c',
      trunkId: null,
    } as const;
    const of = { projectId: 'p', sessionId: 's', call, variables: {}, notBefore: later(60), reason: '' };
    const outcome = await callbackScheduler({ ...deps, insertOnce })(of).catch(({ code }) => code);
    expect([outcome, inserted.length]).toEqual([kept ? later(60) : 'callback_limit_exceeded', kept]);
  });

  test('moves a callback outside of the calling hours to the next allowed time', async () => {
    rules = { isListed: false, callingHours: DAY };
    const call = {
      direction: 'inbound',
      fromNumber: TO,
      toNumber: FROM,
      callId: 'c',
      trunkId: null,
    } as const;
    // 21:00 in Taipei.
    const notBefore = later(13 * 3600);
    const of = { projectId: 'p', sessionId: 's', call, variables: {}, notBefore, reason: '' };
    const schedule = callbackScheduler({ ...deps, insertOnce });
    expect(await schedule(of)).toBe(later(24 * 3600));
    expect(inserted.map((one) => one.notBefore)).toEqual([later(24 * 3600)]);
    rules = { isListed: true, callingHours: DAY };
    await expect(schedule(of)).rejects.toMatchObject({ code: 'do_not_call' });
  });

  test('names the next allowed time of an order', async () => {
    rules = { isListed: false, callingHours: NIGHT };
    const extra = { nextAllowedAt: later(8 * 3600) };
    await expect(accept()).rejects.toMatchObject({ code: 'outside_calling_hours', extra });
    expect(await accept({ notBefore: later(8 * 3600) })).toMatchObject({ success: true });
  });
});
