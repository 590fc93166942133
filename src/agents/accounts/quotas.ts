import { z } from 'zod';

import { CallwayError } from '../../base/errors.ts';
import { omitUndefined } from '../../base/omitUndefined.ts';
import type { Allowance } from './rateLimiter.ts';
import type { UsageMeter } from './usage.ts';

const HIGHEST = 1_000_000_000;
const MOST_BYTES = Number.MAX_SAFE_INTEGER;
const SECONDS_PER_MINUTE = 60;
const GIBIBYTE = 1024 ** 3;

const quota = (description: string, most = HIGHEST) => z.int().min(0).max(most).describe(description);

/** What a project may hold, or use in a UTC day or a minute. */
export const quotas = z
  .strictObject({
    apiKeys: quota('API keys.'),
    widgetTokens: quota('Tokens of widgets.'),
    tools: quota('Tools, without those of MCP servers.'),
    mcpServers: quota('MCP servers.'),
    trunks: quota('Trunks.'),
    numbers: quota('Phone numbers.'),
    pathwayVersions: quota(
      'Versions of the pathway that are kept; the oldest are removed, but none that is published or in use.',
    ).min(1),
    documents: quota('Documents in knowledgebases.'),
    mediaFiles: quota('Audio files for callers who wait.'),
    testCases: quota('Test cases.'),
    testSuites: quota('Test suites.'),
    storedBytes: quota(
      'Bytes of these documents and files, and of recordings. A recording beyond it is not kept: its status is failed.',
      MOST_BYTES,
    ),
    sessionsPerDay: quota('New sessions a day, by chat and phone.'),
    scheduledCalls: quota('Calls that wait for their time.'),
    testRuns: quota('Plays of test cases a minute: cases of a run, times its repeats.'),
  })
  .meta({ id: 'Quotas' });

export const quotasPatch = quotas.partial();

export type Quotas = z.infer<typeof quotas>;
export type QuotaName = keyof Quotas;
/** Quotas that refuse more; old pathway versions are removed instead. */
export type CountedQuota = Exclude<QuotaName, 'pathwayVersions' | 'sessionsPerDay'>;

/** Enough for the largest honest project, and bearable if every project reaches them. */
export const DEFAULT_QUOTAS: Quotas = {
  apiKeys: 50,
  widgetTokens: 50,
  tools: 200,
  mcpServers: 20,
  trunks: 50,
  numbers: 1000,
  pathwayVersions: 100,
  documents: 10_000,
  mediaFiles: 100,
  testCases: 2000,
  testSuites: 200,
  // Some 900 hours of recordings.
  storedBytes: 100 * GIBIBYTE,
  sessionsPerDay: 100_000,
  scheduledCalls: 1000,
  testRuns: 1000,
};

interface QuotaUse {
  readonly used: number;
  readonly limit: number;
}

export interface QuotaStore {
  /** Locks the project until the transaction ends, so that no concurrent request uses up the quota. */
  lockAndRead(projectId: string, name: CountedQuota): Promise<QuotaUse>;
  /** All that is stored. */
  readAll(projectId: string): Promise<Omit<Record<QuotaName, number>, 'sessionsPerDay'>>;
}

/**
 * Checks a quota before something is added, in the transaction that adds it.
 *
 * @throws {CallwayError} 429 `quota_exceeded`, 413 for bytes.
 */
export async function requireQuota(
  { quotas: store }: { readonly quotas: QuotaStore },
  projectId: string,
  name: CountedQuota,
  added = 1,
): Promise<void> {
  const { used, limit } = await store.lockAndRead(projectId, name);
  if (used + added > limit)
    throw quotaExceeded(name, limit, name === 'testRuns' ? SECONDS_PER_MINUTE : undefined);
}

/** Counts a project's new sessions by UTC day, over all nodes. */
export interface SessionCounter {
  /** Counts one, unless the day's limit is reached. */
  take(projectId: string, limit: number): Promise<Allowance>;
  /** Today's count. */
  read(projectId: string): Promise<number>;
}

export interface SessionQuotaDeps {
  readonly quotasOf: (projectId: string) => Promise<Quotas | undefined>;
  readonly sessions: SessionCounter;
  readonly meter: Pick<UsageMeter, 'add'>;
}

/** Counts a new session. @throws {CallwayError} 429 `quota_exceeded` */
export async function countSession(
  { quotasOf, sessions, meter }: SessionQuotaDeps,
  projectId: string,
): Promise<void> {
  const limit = ((await quotasOf(projectId)) ?? DEFAULT_QUOTAS).sessionsPerDay;
  const allowance = await sessions.take(projectId, limit);
  if (!allowance.allowed) throw quotaExceeded('sessionsPerDay', limit, allowance.retryAfterSeconds);
  meter.add(projectId, { sessions: 1 });
}

/** Quotas of a newer release are ignored. */
export function quotasFrom(stored: z.infer<typeof quotasPatch>): Quotas {
  const known = Object.entries(stored).filter(([name]) => name in DEFAULT_QUOTAS);
  return { ...DEFAULT_QUOTAS, ...omitUndefined<Partial<Quotas>>(Object.fromEntries(known)) };
}

function quotaExceeded(name: QuotaName, limit: number, retryAfterSeconds?: number): CallwayError {
  const message = `This project has reached its quota ${name} of ${limit}; the operator of this installation can raise it`;
  const category = name === 'storedBytes' ? 'too_large' : 'rate_limited';
  return new CallwayError(category, 'quota_exceeded', message, {
    extra: { quota: name },
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}
