import { expect, test } from 'vitest';

import {
  countSession,
  requireVendorQuotas,
  vendorQuotasUsed,
} from '../../../src/agents/accounts/dayQuotas.ts';
import { DEFAULT_QUOTAS, type Quotas } from '../../../src/agents/accounts/quotas.ts';
import type { UsageKind, UsageMeter } from '../../../src/agents/accounts/usage.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { unused } from '../../support/unused.ts';

interface Options {
  /** Undefined for a project that is not known. */
  readonly quotas?: Partial<Quotas> | undefined;
  readonly allowed?: boolean;
  readonly today?: Partial<Record<UsageKind, number>>;
}

function depsOf({ quotas, allowed = true, today = {} }: Options) {
  const taken: [string, number][] = [];
  const counted: [string, unknown][] = [];
  const read: string[] = [];
  return {
    quotasOf: async () => quotas && { ...DEFAULT_QUOTAS, ...quotas },
    sessions: {
      async take(projectId: string, limit: number) {
        taken.push([projectId, limit]);
        return allowed ? { allowed } : { allowed, retryAfterSeconds: 77 };
      },
      read: async () => 0,
    },
    meter: unused<UsageMeter>('meter', {
      add: (projectId, used) => void counted.push([projectId, used]),
      async today(projectId) {
        read.push(projectId);
        return today;
      },
    }),
    clock: createSimulatedClock(Date.parse('2026-11-23T23:59:00.500Z')),
    taken,
    counted,
    read,
  };
}

test('A new session is counted within the day’s quota, or refused until the next day', async () => {
  const within = depsOf({ quotas: { sessionsPerDay: 3 } });
  await countSession(within, 'p');
  expect([within.taken, within.counted]).toEqual([[['p', 3]], [['p', { sessions: 1 }]]]);
  const beyond = depsOf({ allowed: false });
  await expect(countSession(beyond, 'q')).rejects.toMatchObject({
    code: 'quota_exceeded',
    retryAfterSeconds: 77,
    extra: { quota: 'sessionsPerDay' },
  });
  expect([beyond.taken, beyond.counted]).toEqual([[['q', DEFAULT_QUOTAS.sessionsPerDay]], []]);
});

test('Usage of vendors is read only where it has a limit', async () => {
  const deps = depsOf({ quotas: {} });
  await countSession(deps, 'p');
  await requireVendorQuotas(deps, 'p');
  expect(deps.read).toEqual([]);
});

test.each([
  [{ tokensPerDay: 100 }, { installationTokens: 99, tokens: 500 }, undefined],
  [{ tokensPerDay: 100 }, { installationTokens: 100 }, 'tokensPerDay of 100'],
  [{ tokensPerDay: 0 }, {}, 'tokensPerDay of 0'],
  [{ charactersPerDay: 5 }, { installationCharacters: 5 }, 'charactersPerDay of 5'],
  [{ charactersPerDay: 5 }, { installationTokens: 500, installationCharacters: 4 }, undefined],
  [{ recognitionMinutesPerDay: 2 }, { installationRecognitionMs: 119_999 }, undefined],
  [{ recognitionMinutesPerDay: 2 }, { installationRecognitionMs: 120_000 }, 'recognitionMinutesPerDay of 2'],
] as const)(
  'With quotas of %j and usage of %j, a session is refused by: %s',
  async (quotas, today, refusedBy) => {
    const deps = depsOf({ quotas, today });
    const outcome = await countSession(deps, 'p').catch((error: unknown) => error);
    if (refusedBy === undefined) {
      expect([outcome, deps.counted]).toEqual([undefined, [['p', { sessions: 1 }]]]);
      return;
    }
    expect(outcome).toMatchObject({
      code: 'quota_exceeded',
      category: 'rate_limited',
      message: expect.stringMatching(
        new RegExp(`${refusedBy}; the operator of this installation can raise it`),
      ),
      // Until midnight.
      retryAfterSeconds: 60,
    });
    expect([deps.taken, deps.counted]).toEqual([[], []]);
  },
);

test('A preview is held to its characters alone', async () => {
  const spent = depsOf({ quotas: { tokensPerDay: 1 }, today: { installationTokens: 1 } });
  await requireVendorQuotas(spent, 'p', ['charactersPerDay']);
  await expect(requireVendorQuotas(spent, 'p')).rejects.toMatchObject({ code: 'quota_exceeded' });
});

test('What is used of the quotas is shown in their units', () => {
  const usage = { installationTokens: 7, installationRecognitionMs: 90_100, characters: 9 };
  expect(vendorQuotasUsed(usage)).toEqual({
    tokensPerDay: 7,
    charactersPerDay: 0,
    recognitionMinutesPerDay: 1.5,
  });
});
