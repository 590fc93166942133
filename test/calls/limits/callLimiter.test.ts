import { beforeEach, describe, expect, test } from 'vitest';

import { type CallLimits, NO_CALL_LIMITS } from '../../../src/agents/accounts/callLimits.ts';
import { createCallLimiter } from '../../../src/calls/limits/callLimiter.ts';
import type { DailyUsage, ProjectUsage } from '../../../src/calls/limits/projectUsage.ts';

const OUT = { id: 'call', projectId: 'p', direction: 'outbound', toNumber: '+886912345678' } as const;
const IN = { ...OUT, direction: 'inbound' } as const;

let limits: CallLimits;
let used: DailyUsage;
let over: Awaited<ReturnType<ProjectUsage['countCall']>>;
let hasRoom: boolean;
let log: unknown[];
beforeEach(() => {
  used = { talkTimeMs: 0, spentMillionths: 0 };
  [limits, over, hasRoom, log] = [NO_CALL_LIMITS, undefined, true, []];
});
const limit = (change: Partial<CallLimits>) => {
  limits = { ...NO_CALL_LIMITS, ...change };
};
const guard = createCallLimiter({
  projects: {
    find: async (id) =>
      id === 'p'
        ? {
            id,
            name: 'P',
            sessionIdleMinutes: 30,
            historyRetentionDays: 30,
            reportUsage: false,
            callLimits: limits,
            createdAt: '',
            updatedAt: '',
          }
        : undefined,
  },
  counts: {
    async countCall(projectId, most) {
      log.push(['count', projectId, most]);
      return over;
    },
    async addUsage(_projectId, more) {
      used = {
        talkTimeMs: used.talkTimeMs + more.talkTimeMs,
        spentMillionths: used.spentMillionths + more.spentMillionths,
      };
      return used;
    },
    async acquireSlot(projectId, callId, most) {
      log.push(['take', projectId, callId, most]);
      return hasRoom;
    },
    async renewSlot(projectId, callId) {
      log.push(['renew', projectId, callId]);
    },
    async releaseSlot(projectId, callId) {
      log.push(['free', projectId, callId]);
    },
  },
  meter: { callRefused: (reason) => log.push(['refused', reason]) },
  onRefused: (projectId) => expect(projectId).toBe('p'),
});

describe('the acceptance of a call', () => {
  test('asks nobody where the project has no limits, or is not there', async () => {
    await guard.admitOrder('p', OUT.toNumber);
    await guard.admitOrder('gone', OUT.toNumber);
    expect(log).toEqual([]);
  });

  test('is counted against what limits there are', async () => {
    limit({ maxCallsPerHour: 100, maxCallMinutesPerDay: 2, maxSpendingPerDay: 0.25 });
    await guard.admitOrder('p', OUT.toNumber);
    const most = { perHour: 100, talkedMsPerDay: 120_000, spentMillionthsPerDay: 250_000 };
    expect(log).toEqual([['count', 'p', { perMinute: null, ...most }]]);
  });

  test.each([
    ['rate', 'call_rate_exceeded'],
    ['minutes', 'call_minutes_exhausted'],
    ['spending', 'call_spending_exhausted'],
  ] as const)('is refused over the %s until there is more', async (what, code) => {
    limit({ maxCallsPerMinute: 1 });
    over = { what, retryAfterSeconds: 17 };
    const refused = guard.admitOrder('p', OUT.toNumber);
    await expect(refused).rejects.toMatchObject({ category: 'rate_limited', code, retryAfterSeconds: 17 });
    expect(log.at(-1)).toEqual(['refused', what]);
  });

  test('is refused, and not counted, to where the project may not call', async () => {
    limit({ blockedPrefixes: ['+886'], maxCallsPerMinute: 1 });
    const refused = guard.admitOrder('p', OUT.toNumber);
    await expect(refused).rejects.toMatchObject({ category: 'forbidden', code: 'destination_not_allowed' });
    expect(log).toEqual([['refused', 'destination']]);
  });
});

describe('the begin of a call', () => {
  test('takes a place where there are so many', async () => {
    expect(await guard.startCall(OUT)).toBe('begun');
    expect(log).toEqual([]);
    limit({ maxConcurrentCalls: 2 });
    expect(await guard.startCall(IN)).toBe('begun');
    expect(log).toEqual([['take', 'p', 'call', 2]]);
  });

  test('waits where there is none; only who calls in is refused by it', async () => {
    limit({ maxConcurrentCalls: 2 });
    hasRoom = false;
    expect(await guard.startCall(OUT)).toBe('full');
    expect(log).not.toContainEqual(['refused', 'simultaneous']);
    expect(await guard.startCall(IN)).toBe('full');
    expect(log.at(-1)).toEqual(['refused', 'simultaneous']);
  });

  test.each([
    ['destination', { blockedPrefixes: ['+886'] }],
    ['minutes', { maxCallMinutesPerDay: 1 }],
    ['spending', { maxSpendingPerDay: 1 }],
  ] satisfies [string, Partial<CallLimits>][])(
    'is refused when the %s was forbidden after its acceptance',
    async (reason, change) => {
      used = { talkTimeMs: 60_000, spentMillionths: 1_000_000 };
      limit({ maxConcurrentCalls: 1, ...change });
      expect(await guard.startCall(OUT)).toBe('refused');
      expect(log).toEqual([['refused', reason]]);
      expect(await guard.startCall(IN)).toBe('begun');
    },
  );
});

describe('a call that goes on', () => {
  const on = (talkTimeMs: number, to: string = OUT.toNumber) => [{ to, talkTimeMs }];

  test('keeps its place, and is over when its project has no minutes left', async () => {
    limit({ maxCallMinutesPerDay: 1 });
    expect(await guard.recordUsage(OUT, on(59_999))).toBe(true);
    expect(await guard.recordUsage(OUT, on(1))).toBe(false);
    expect(log).toEqual([
      ['renew', 'p', 'call'],
      ['renew', 'p', 'call'],
    ]);
  });

  test('is over when its project’s money is spent, each leg at its own rate', async () => {
    const rates = [
      { prefix: '+', perMinute: 5 },
      { prefix: '+886', perMinute: 0.5 },
    ];
    limit({ rates, maxSpendingPerDay: 5.5 });
    expect(await guard.recordUsage(OUT, on(60_000))).toBe(true);
    expect(await guard.recordUsage(IN, on(59_000, 'sip:+19005550100@pbx.example'))).toBe(true);
    expect(used).toEqual({ talkTimeMs: 119_000, spentMillionths: 500_000 + 4_916_667 });
    expect(await guard.recordUsage(IN, on(1_000, 'sip:+19005550100@pbx.example'))).toBe(false);
  });

  test('counts no minutes that others pay', async () => {
    limit({ maxCallMinutesPerDay: 1 });
    expect(await guard.recordUsage(IN, [])).toBe(true);
    expect(used.talkTimeMs).toBe(0);
    await guard.endCall(IN);
    expect(log.at(-1)).toEqual(['free', 'p', 'call']);
  });
});

describe('another leg of a call', () => {
  test.each([
    [{}, undefined],
    [{ maxCallMinutesPerDay: 3 }, undefined],
    [{ maxCallMinutesPerDay: 2 }, 'minutes'],
    [{ maxSpendingPerDay: 1.5 }, undefined],
    [{ maxSpendingPerDay: 1 }, 'spending'],
  ] satisfies [Partial<CallLimits>, string | undefined][])(
    'may be paid within %j unless that is used up',
    async (change, refusal) => {
      used = { talkTimeMs: 120_000, spentMillionths: 1_000_000 };
      limit(change);
      expect(await guard.hasBudget('p')).toBe(refusal === undefined);
      expect(log).toEqual(refusal === undefined ? [] : [['refused', refusal]]);
    },
  );
});
