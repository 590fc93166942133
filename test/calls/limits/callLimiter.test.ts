import { beforeEach, describe, expect, test } from 'vitest';
import type { ProjectStore } from '../../../src/agents/accounts/accountStores.ts';
import { type CallLimits, NO_CALL_LIMITS } from '../../../src/agents/accounts/callLimits.ts';
import { DEFAULT_QUOTAS } from '../../../src/agents/accounts/quotas.ts';
import { retentionFrom } from '../../../src/agents/accounts/retention.ts';
import type { UsageMeter } from '../../../src/agents/accounts/usage.ts';
import { CallLimiter } from '../../../src/calls/limits/callLimiter.ts';
import type { PhoneNumberStore } from '../../../src/calls/numbers/phoneNumberStore.ts';
import type { TrunkStore } from '../../../src/calls/trunks/trunkStore.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { unused } from '../../support/unused.ts';

const OUTBOUND = { id: 'call', projectId: 'p', direction: 'outbound', toNumber: '+886912345678' } as const;
const INBOUND = { ...OUTBOUND, direction: 'inbound' } as const;

let limits: CallLimits;
let used: { billedMs: number; costMillionths: number };
/** Seconds to wait. */
let exceeded: number | undefined;
let hasSlot: boolean;
let log: unknown[];
beforeEach(() => {
  used = { billedMs: 0, costMillionths: 0 };
  [limits, exceeded, hasSlot, log] = [NO_CALL_LIMITS, undefined, true, []];
});
const limit = (change: Partial<CallLimits>) => {
  limits = { ...NO_CALL_LIMITS, ...change };
};
const limiter = new CallLimiter({
  projects: unused<ProjectStore>('projects', {
    find: async (id) =>
      id === 'p'
        ? {
            id,
            name: 'P',
            sessionIdleMinutes: 30,
            chatIdleMinutes: 60,
            historyRetentionDays: 30,
            retentionDays: retentionFrom(30, {}),
            reportUsage: false,
            callLimits: limits,
            quotas: DEFAULT_QUOTAS,
            callingHours: null,
            reviewRules: [],
            createdAt: '',
            updatedAt: '',
          }
        : undefined,
  }),
  phoneNumbers: unused<PhoneNumberStore>('phoneNumbers', { ownNumbers: async () => ['+886223456789'] }),
  clock: createSimulatedClock(Date.parse('2026-11-23T23:58:59.500Z')),
  trunks: unused<TrunkStore>('trunks', { activeOf: async () => [] }),
  meter: unused<UsageMeter>('meter', {
    async record(_projectId, { billedMs = 0, costMillionths = 0 }) {
      used = { billedMs: used.billedMs + billedMs, costMillionths: used.costMillionths + costMillionths };
    },
    today: async () => used,
  }),
  usage: {
    async countCall(projectId, counted) {
      log.push(['count', projectId, counted]);
      return exceeded;
    },
    async acquireSlot(projectId, callId, slots) {
      log.push(['acquire', projectId, callId, slots]);
      return hasSlot;
    },
    async renewSlot(projectId, callId) {
      log.push(['renew', projectId, callId]);
    },
    async releaseSlot(projectId, callId) {
      log.push(['release', projectId, callId]);
    },
  },
  metrics: { callRefused: (reason) => log.push(['refused', reason]) },
  onRefused: (projectId) => expect(projectId).toBe('p'),
});

describe('admitOrder', () => {
  test('counts nothing for a project without limits, or an unknown one', async () => {
    await limiter.admitOrder('p', OUTBOUND.toNumber);
    await limiter.admitOrder('unknown', OUTBOUND.toNumber);
    expect(log).toEqual([]);
  });

  test('counts the call against the limits that are set', async () => {
    limit({ maxCallsPerHour: 100, maxCallMinutesPerDay: 2, maxSpendingPerDay: 0.25 });
    await limiter.admitOrder('p', OUTBOUND.toNumber);
    expect(log).toEqual([['count', 'p', { perMinute: null, perHour: 100 }]]);
  });

  test('refuses a call over the rate with the time to wait', async () => {
    limit({ maxCallsPerMinute: 1 });
    exceeded = 17;
    const message = 'This project has reached its maxCallsPerMinute (1); the operator changes callLimits';
    const error = { category: 'rate_limited', code: 'call_rate_exceeded', retryAfterSeconds: 17, message };
    await expect(limiter.admitOrder('p', OUTBOUND.toNumber)).rejects.toMatchObject(error);
    expect(log.at(-1)).toEqual(['refused', 'rate']);
  });

  test.each([
    ['minutes', { maxCallMinutesPerDay: 2 }],
    ['spending', { maxSpendingPerDay: 0.25 }],
  ] satisfies [string, Partial<CallLimits>][])(
    'refuses a call until midnight, uncounted, once the %s of the day are exhausted',
    async (what, change) => {
      limit({ maxCallsPerMinute: 1, ...change });
      used = { billedMs: 119_999, costMillionths: 249_999 };
      await limiter.admitOrder('p', OUTBOUND.toNumber);
      log.length = 0;
      used = { billedMs: 120_000, costMillionths: 250_000 };
      const error = { category: 'rate_limited', code: `call_${what}_exhausted`, retryAfterSeconds: 61 };
      await expect(limiter.admitOrder('p', OUTBOUND.toNumber)).rejects.toMatchObject(error);
      expect(log).toEqual([['refused', what]]);
    },
  );

  test('refuses a blocked destination without counting the call', async () => {
    limit({ blockedPrefixes: ['+886'], maxCallsPerMinute: 1 });
    const refused = limiter.admitOrder('p', OUTBOUND.toNumber);
    await expect(refused).rejects.toMatchObject({
      category: 'unprocessable',
      code: 'destination_not_allowed',
      message: expect.stringMatching(/may not call .*: .*; the operator changes callLimits$/),
    });
    expect(log).toEqual([['refused', 'destination']]);
  });
});

describe('startCall', () => {
  test('takes a slot when the number of calls is limited', async () => {
    expect(await limiter.startCall(OUTBOUND)).toBe('started');
    expect(log).toEqual([]);
    limit({ maxConcurrentCalls: 2 });
    expect(await limiter.startCall(INBOUND)).toBe('started');
    expect(log).toEqual([['acquire', 'p', 'call', 2]]);
  });

  test('counts a call without a slot as refused only when it is inbound', async () => {
    limit({ maxConcurrentCalls: 2 });
    hasSlot = false;
    expect(await limiter.startCall(OUTBOUND)).toBe('full');
    expect(log).not.toContainEqual(['refused', 'simultaneous']);
    expect(await limiter.startCall(INBOUND)).toBe('full');
    expect(log.at(-1)).toEqual(['refused', 'simultaneous']);
  });

  test.each([
    ['destination', { blockedPrefixes: ['+886'] }],
    ['minutes', { maxCallMinutesPerDay: 1 }],
    ['spending', { maxSpendingPerDay: 1 }],
  ] satisfies [string, Partial<CallLimits>][])(
    'refuses an outbound call when its %s limit forbids it since its acceptance',
    async (reason, change) => {
      used = { billedMs: 60_000, costMillionths: 1_000_000 };
      limit({ maxConcurrentCalls: 1, ...change });
      expect(await limiter.startCall(OUTBOUND)).toBe('refused');
      expect(log).toEqual([['refused', reason]]);
      expect(await limiter.startCall(INBOUND)).toBe('started');
    },
  );
});

describe('recordUsage', () => {
  const leg = (talkTimeMs: number, to: string = OUTBOUND.toNumber) => [{ to, talkTimeMs }];

  test('lets a call continue until the minutes are exhausted', async () => {
    limit({ maxCallMinutesPerDay: 1 });
    await limiter.recordUsage('p', leg(59_999));
    expect(await limiter.mayContinue('p')).toBe(true);
    await limiter.recordUsage('p', leg(1));
    expect(await limiter.mayContinue('p')).toBe(false);
    expect(log).toEqual([]);
  });

  test('lets a call continue until the money is spent, each leg at its own rate', async () => {
    const rates = [
      { prefix: '+', perMinute: 5 },
      { prefix: '+886', perMinute: 0.5 },
    ];
    limit({ rates, maxSpendingPerDay: 5.5 });
    await limiter.recordUsage('p', leg(60_000));
    await limiter.recordUsage('p', leg(59_000, 'sip:+19005550100@pbx.example'));
    expect(used).toEqual({ billedMs: 119_000, costMillionths: 500_000 + 4_916_667 });
    expect(await limiter.mayContinue('p')).toBe(true);
    await limiter.recordUsage('p', leg(1_000, 'sip:+19005550100@pbx.example'));
    expect(await limiter.mayContinue('p')).toBe(false);
  });

  test('adds nothing for a call without billed legs', async () => {
    await limiter.recordUsage('p', []);
    expect(used.billedMs).toBe(0);
  });
});

test('A stream without a call takes a slot, and is refused for some seconds where none is free', async () => {
  await limiter.startStream('p', 'stream');
  limit({ maxConcurrentCalls: 2 });
  await limiter.startStream('p', 'stream');
  hasSlot = false;
  await expect(limiter.startStream('p', 'stream')).rejects.toMatchObject({
    category: 'rate_limited',
    code: 'call_limit_exceeded',
    message: expect.stringMatching(/^This project has 2 calls.*maxConcurrentCalls; the operator changes/),
    retryAfterSeconds: 5,
  });
  const acquire = ['acquire', 'p', 'stream', 2];
  expect(log).toEqual([acquire, acquire, ['refused', 'simultaneous']]);
});

test('The host of a SIP URI is limited for transfers, and not for those that the peer makes itself', async () => {
  limit({ allowedSipDomains: ['pbx.example'] });
  await limiter.requireAllowedDestination('p', 'sip:desk@pbx.example');
  await limiter.admitOrder('p', 'sip:desk@pbx.example');
  await limiter.requireAllowedDestination('p', 'sip:desk@evil.example', true);
  const message =
    'This project may not call sip:desk@evil.example: allowedSipDomains does not have evil.example, and none of its trunks is there; the operator changes callLimits';
  const refused = { code: 'destination_not_allowed', message };
  await expect(limiter.requireAllowedDestination('p', 'sip:desk@evil.example')).rejects.toMatchObject(
    refused,
  );
  await expect(limiter.admitOrder('p', 'sip:desk@evil.example')).rejects.toMatchObject(refused);
});

test('The destinations of a project hold for transfers and redirects, which are counted when refused', async () => {
  const [home, abroad] = [OUTBOUND.toNumber, '+14155550100'];
  for (const change of [{}, { ownCountriesOnly: true }]) {
    limit(change);
    await limiter.requireAllowedDestination('p', home);
    expect((await limiter.allowedRedirects('p'))(home)).toBe(true);
  }
  expect(log).toEqual([]);
  const code = 'destination_not_allowed';
  await expect(limiter.requireAllowedDestination('p', abroad)).rejects.toMatchObject({ code });
  expect((await limiter.allowedRedirects('p'))(abroad)).toBe(false);
  expect(log).toEqual([
    ['refused', 'destination'],
    ['refused', 'destination'],
  ]);
});

test('A call keeps its slot until it ends', async () => {
  await limiter.renewSlot(INBOUND);
  await limiter.endCall(INBOUND);
  expect(log).toEqual([
    ['renew', 'p', 'call'],
    ['release', 'p', 'call'],
  ]);
});

test.each([
  [{}, undefined],
  [{ maxCallMinutesPerDay: 3 }, undefined],
  [{ maxCallMinutesPerDay: 2 }, 'minutes'],
  [{ maxSpendingPerDay: 1.5 }, undefined],
  [{ maxSpendingPerDay: 1 }, 'spending'],
] satisfies [Partial<CallLimits>, string | undefined][])(
  'hasBudget within %j after two minutes at a cost of 1 is refused for: %s',
  async (change, refusal) => {
    used = { billedMs: 120_000, costMillionths: 1_000_000 };
    limit(change);
    expect(await limiter.hasBudget('p')).toBe(refusal === undefined);
    expect(log).toEqual(refusal === undefined ? [] : [['refused', refusal]]);
  },
);
