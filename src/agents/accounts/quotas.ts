import { z } from 'zod';

import { CallwayError } from '../../base/errors.ts';
import { omitUndefined } from '../../base/values/omitUndefined.ts';

const HIGHEST = 1_000_000_000;
const MOST_BYTES = Number.MAX_SAFE_INTEGER;
const SECONDS_PER_MINUTE = 60;
const GIBIBYTE = 1024 ** 3;

const quota = (description: string, most = HIGHEST) => z.int().min(0).max(most).describe(description);
const quotaOfVendors = (description: string) =>
  quota(
    `${description} of a day (UTC) on the installation’s credentials; what runs on the project’s own does not count. At the quota, new sessions, test runs and previews are refused, and running ones go on. null is no limit.`,
  ).nullable();

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
      'Versions of the pathway that are kept, and releases that edits made; the oldest are removed, but none that is published, in use or in the history of a session.',
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
    tokensPerDay: quotaOfVendors('Tokens of chat and speech-to-speech models'),
    charactersPerDay: quotaOfVendors('Synthesized characters'),
    recognitionMinutesPerDay: quotaOfVendors(
      'Minutes of audio that recognizers take, silence included where they stream,',
    ),
    scheduledCalls: quota('Calls that wait for their time.'),
    campaigns: quota('Campaigns.'),
    alerts: quota('Alerts.'),
    testRuns: quota('Plays of test cases a minute: cases of a run, times its repeats.'),
  })
  .meta({ id: 'Quotas' });

export const quotasPatch = quotas.partial();

export type Quotas = z.infer<typeof quotas>;
export type QuotaName = keyof Quotas;
/** Quotas that refuse more; old pathway versions and automatic releases are removed instead. */
export type CountedQuota = Exclude<QuotaName, 'pathwayVersions' | DayQuota>;
/** Quotas that count by UTC day; they are not read with what is stored. */
type DayQuota = 'sessionsPerDay' | VendorQuota;
export type VendorQuota = 'tokensPerDay' | 'charactersPerDay' | 'recognitionMinutesPerDay';

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
  tokensPerDay: null,
  charactersPerDay: null,
  recognitionMinutesPerDay: null,
  scheduledCalls: 1000,
  campaigns: 10_000,
  alerts: 50,
  testRuns: 1000,
};

interface QuotaUse {
  readonly used: number;
  readonly limit: number;
}

export interface QuotaStore {
  /** Locks the project until the transaction ends, so that no concurrent request uses up the quota. */
  lockAndRead(projectId: string, name: CountedQuota): Promise<QuotaUse>;
  /** Reads everything that is stored. */
  readAll(projectId: string): Promise<Record<Exclude<QuotaName, DayQuota>, number>>;
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

/** Quotas of a newer release are ignored. */
export function quotasFrom(stored: z.infer<typeof quotasPatch>): Quotas {
  const known = Object.entries(stored).filter(([name]) => name in DEFAULT_QUOTAS);
  return { ...DEFAULT_QUOTAS, ...omitUndefined<Partial<Quotas>>(Object.fromEntries(known)) };
}

export function quotaExceeded(name: QuotaName, limit: number, retryAfterSeconds?: number): CallwayError {
  const message = `This project has reached its quota ${name} of ${limit}; the operator of this installation can raise it`;
  const category = name === 'storedBytes' ? 'too_large' : 'rate_limited';
  return new CallwayError(category, 'quota_exceeded', message, {
    extra: { quota: name },
    retryAfterSeconds,
  });
}
