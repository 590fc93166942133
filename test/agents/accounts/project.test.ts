import { describe, expect, test } from 'vitest';

import { NEW_PROJECT_CALLING_HOURS } from '../../../src/agents/accounts/callingHours.ts';
import { NEW_PROJECT_CALL_LIMITS, NO_CALL_LIMITS } from '../../../src/agents/accounts/callLimits.ts';
import { projectInput, projectPatch, sessionRetentionOf } from '../../../src/agents/accounts/project.ts';
import { DEFAULT_QUOTAS, quotasFrom, requireQuota } from '../../../src/agents/accounts/quotas.ts';
import { retentionFrom } from '../../../src/agents/accounts/retention.ts';

test('A new project has limits, quotas and no usage report unless it is told otherwise', () => {
  expect(projectInput.parse({ name: 'Clinic' })).toEqual({
    name: 'Clinic',
    retentionDays: {},
    reportUsage: false,
    callLimits: NEW_PROJECT_CALL_LIMITS,
    quotas: DEFAULT_QUOTAS,
    callingHours: NEW_PROJECT_CALLING_HOURS,
    reviewRules: [],
  });
  expect(NEW_PROJECT_CALL_LIMITS).toMatchObject({
    ownCountriesOnly: true,
    blockSpecialRates: true,
    maxConcurrentCalls: 10,
    maxCallsPerMinute: 60,
    maxSpendingPerDay: null,
  });
  const { callLimits, quotas } = projectInput.parse({
    name: 'Clinic',
    callLimits: { maxConcurrentCalls: null, blockSpecialRates: undefined },
    quotas: { tools: 1, apiKeys: undefined },
  });
  expect(callLimits).toEqual({ ...NEW_PROJECT_CALL_LIMITS, maxConcurrentCalls: null });
  expect(quotas).toEqual({ ...DEFAULT_QUOTAS, tools: 1 });
});

test('Call limits of the operator are off', () => {
  expect(NO_CALL_LIMITS).toMatchObject({
    ownCountriesOnly: false,
    blockSpecialRates: false,
    maxConcurrentCalls: null,
  });
});

test.each([
  [{ historyRetentionDays: 7 }, true],
  [{ historyRetentionDays: 7, retentionDays: { sessions: 7 } }, true],
  [{ historyRetentionDays: 7, retentionDays: { tests: 3 } }, true],
  [{ historyRetentionDays: 7, retentionDays: { sessions: 8 } }, false],
  [{ retentionDays: { sessions: 0 } }, true],
  [{ retentionDays: { recordings: 0 } }, false],
  [{ retentionDays: { sessions: null } }, true],
  [{ callLimits: { allowedPrefixes: ['+', '+886'] } }, true],
  [{ callLimits: { allowedPrefixes: ['886'] } }, false],
  [{ callLimits: { maxConcurrentCalls: 0 } }, false],
  [{ callLimits: { maxConcurrentCalls: 1 } }, true],
  [{ callLimits: { rates: [{ prefix: '+1', perMinute: 0 }] } }, true],
  [
    {
      callLimits: {
        rates: [
          { prefix: '+1', perMinute: 0 },
          { prefix: '+1', perMinute: 1 },
        ],
      },
    },
    false,
  ],
  [{ quotas: { pathwayVersions: 0 } }, false],
  [{ quotas: { tools: 0 } }, true],
  [{ sessionIdleMinutes: 0 }, false],
  [{ sessionIdleMinutes: 7 * 24 * 60 }, true],
  [{ sessionIdleMinutes: 7 * 24 * 60 + 1 }, false],
  [{ sessionIdleMinutes: 1, name: 'N' }, true],
  [{ name: '' }, false],
])('Of changes to a project, %j is accepted: %s', (patch, isAccepted) => {
  expect(projectPatch.safeParse(patch).success).toBe(isAccepted);
  expect(projectInput.safeParse({ name: 'N', ...patch }).success).toBe(isAccepted);
});

test.each([
  [{}, undefined],
  [{ historyRetentionDays: 7 }, 7],
  [{ historyRetentionDays: 7, retentionDays: {} }, 7],
  [{ retentionDays: { sessions: null } }, null],
])('Sessions of %j are kept for %s days', (given, days) => {
  expect(sessionRetentionOf(given)).toBe(days);
});

test.each([
  [7, {}, { sessions: 7, recordings: 7, deliveries: 7, traces: 7, tests: 30 }],
  [0, {}, { sessions: 0, recordings: 0, deliveries: 30, traces: 0, tests: 30 }],
  [null, { tests: 1 }, { sessions: null, recordings: null, deliveries: null, traces: null, tests: 1 }],
  [
    7,
    { recordings: 1, traces: 2, deliveries: 3, tests: null },
    { sessions: 7, recordings: 1, deliveries: 3, traces: 2, tests: null },
  ],
])('With sessions for %s days and %j, each kind of data has its own', (sessions, given, days) => {
  expect(retentionFrom(sessions, given)).toEqual(days);
});

describe('quotas', () => {
  const holding = (used: number) => ({
    quotas: { lockAndRead: async () => ({ used, limit: 5 }), readAll: async () => ({}) as never },
  });

  test.each([
    [4, 1, 'tools', undefined],
    [0, 5, 'storedBytes', undefined],
    [5, 1, 'tools', { category: 'rate_limited', retryAfterSeconds: undefined, extra: { quota: 'tools' } }],
    [4, 2, 'testRuns', { category: 'rate_limited', retryAfterSeconds: 60 }],
    [1, 5, 'storedBytes', { category: 'too_large', retryAfterSeconds: undefined }],
  ] as const)('With %i of 5 used, %i more of %s', async (used, added, name, refusal) => {
    const outcome = await requireQuota(holding(used), 'p', name, added).catch((error: unknown) => error);
    if (refusal) expect(outcome).toMatchObject({ code: 'quota_exceeded', ...refusal });
    else expect(outcome).toBeUndefined();
  });

  test('One more is the default', async () => {
    await requireQuota(holding(4), 'p', 'tools');
    await expect(requireQuota(holding(5), 'p', 'tools')).rejects.toThrow('quota tools of 5');
  });

  test('Stored quotas of a newer release are ignored', () => {
    expect(quotasFrom({ tools: 3, later: 1 } as never)).toEqual({ ...DEFAULT_QUOTAS, tools: 3 });
  });
});
