import { beforeEach, describe, expect, test } from 'vitest';

import { CallwayError } from '../../../src/base/errors.ts';
import { noopTracer } from '../../../src/base/tracing.ts';
import type { Call } from '../../../src/calls/call.ts';
import { type PhoneNumber, phoneNumberInput } from '../../../src/calls/numbers/phoneNumber.ts';
import {
  type AcceptCallDeps,
  acceptCall,
  type InsertOnce,
  type OutboundOrder,
} from '../../../src/calls/setup/acceptCall.ts';
import { candidateTrunks } from '../../../src/calls/trunks/candidateTrunks.ts';
import { type Trunk, trunkInput } from '../../../src/calls/trunks/trunk.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { AT } from '../support/makeCall.ts';

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
  id: 'n',
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
let queueFails: boolean;
let renewalFails: boolean;
let ids: number;
let refusal: CallwayError | undefined;

const deps: AcceptCallDeps = {
  phoneNumbers: { findByNumber: async (_projectId, number) => (number === FROM ? phoneNumber : undefined) },
  trunks: { activeOf: async () => trunks },
  conversations: {
    prepare: async (wanted) => ({
      session: { ...wanted, instanceId: 'instance' } as never,
      started: { type: 'session_started', at: AT, data: {} },
    }),
  },
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
      // Not before it is kept: until then the number is held for a moment only.
      expect(inserted.map(({ id }) => id)).toContain(callId);
      renewed.push(callId);
      return true;
    },
    async release(_projectId, _number, callId) {
      if (holder === callId) holder = undefined;
    },
  },
  guard: {
    async admitOrder(_projectId, toNumber) {
      expect(toNumber).toBe(TO);
      if (refusal) throw refusal;
    },
  },
  queue: {
    async add(callId) {
      if (queueFails) throw new Error('Redis is away');
      queue.push(callId);
    },
  },
  clock: createSimulatedClock(Date.parse(AT)),
  makeId: () => {
    ids += 1;
    return `id-${ids}`;
  },
  tracing: noopTracer,
  onError: (_error, what) => void warned.push(what),
};
const keep: InsertOnce = (insert) => insert({ calls: { insert: async (call) => void inserted.push(call) } });
const order = (change: Partial<OutboundOrder> = {}): OutboundOrder => ({
  projectId: 'p',
  fromNumber: '0223456789',
  toNumber: '0912345678',
  ringTimeoutSeconds: 45,
  maxDurationSeconds: 3600,
  record: true,
  draft: false,
  ...change,
});
const accept = (change: Partial<OutboundOrder> = {}, keeping = keep) =>
  acceptCall(deps, order(change), keeping);

beforeEach(() => {
  [phoneNumber, trunks, holder, queueFails, ids] = [makeNumber(), [makeTrunk('t')], undefined, false, 0];
  [queue, inserted, renewed, warned, refusal, renewalFails] = [[], [], [], [], undefined, false];
});

describe('accepting an outbound call', () => {
  test('locks its number, keeps it, and queues it', async () => {
    const metadata = { order: 7 };
    expect(await accept({ metadata })).toEqual({ success: true, callId: 'id-1', sessionId: 'id-2' });
    expect([holder, renewed, queue]).toEqual(['id-1', ['id-1'], ['id-1']]);
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
        createdAt: AT,
        settings: {
          ringTimeoutSeconds: 45,
          maxDurationSeconds: 3600,
          record: true,
          media: null,
          asGiven: { fromNumber: '0223456789', toNumber: '0912345678' },
        },
      }),
    ]);
  });

  test('sends its audio where the order says, else where the number says', async () => {
    const media = { url: 'wss://example.com/number', dialect: 'callway' } as const;
    phoneNumber = makeNumber({ media });
    await accept();
    holder = undefined;
    const own = { url: 'wss://example.com/order', dialect: 'twilio' } as const;
    await accept({ media: own });
    expect(inserted.map(({ settings }) => settings.media)).toEqual([media, own]);
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

  test('refuses a number that another call holds, and leaves the lock to it', async () => {
    holder = 'another';
    await expect(accept()).rejects.toMatchObject({ code: 'number_already_queued', category: 'conflict' });
    expect([holder, queue, inserted]).toEqual(['another', [], []]);
  });

  test('frees the lock when the project may not place the call', async () => {
    refusal = new CallwayError('forbidden', 'destination_not_allowed', 'no');
    await expect(accept()).rejects.toBe(refusal);
    expect([holder, queue, inserted]).toEqual([undefined, [], []]);
  });

  test('frees the lock when the call was not kept', async () => {
    const away = new CallwayError('unavailable', 'database_unavailable', 'away');
    await expect(accept({}, () => Promise.reject(away))).rejects.toBe(away);
    expect([holder, queue]).toEqual([undefined, []]);
  });

  test('frees the lock and queues nothing when an earlier answer is given', async () => {
    const earlier = { success: true, callId: 'earlier', sessionId: 's' } as const;
    expect(await accept({}, async () => earlier)).toBe(earlier);
    expect([holder, queue, inserted]).toEqual([undefined, [], []]);
  });

  test('succeeds without Redis once it is kept: the sweeper sees to lock and queue', async () => {
    [queueFails, renewalFails] = [true, true];
    expect(await accept()).toMatchObject({ success: true, callId: 'id-1' });
    expect(holder).toBe('id-1');
    expect(warned).toEqual([
      expect.stringMatching(/lock.*sweeper/),
      expect.stringMatching(/queued.*sweeper/),
    ]);
  });
});

describe('the trunks that a call may take', () => {
  const [low, high, same] = [
    makeTrunk('low', { priority: 9 }),
    makeTrunk('high', { priority: 1 }),
    makeTrunk('same', { priority: 9 }),
  ];

  test.each([
    ['are those of its number in their order', ['same', 'low'], ['same', 'low']],
    ['are without those that are not active', ['gone', 'low'], ['low']],
    ['are all by priority where the number names none', [], ['high', 'low', 'same']],
  ])('%s', (_what, trunkIds, expected) => {
    const found = candidateTrunks({ trunkIds }, [low, high, same]);
    expect(found.map(({ id }) => id)).toEqual(expected);
  });
});
