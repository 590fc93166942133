import type { Clock } from '../../base/values/clock.ts';
import { DAY_MS } from '../../base/values/clock.ts';
import { DEFAULT_QUOTAS, type Quotas, quotaExceeded, type VendorQuota } from './quotas.ts';
import type { Allowance } from './rateLimiter.ts';
import type { UsageKind, UsageMeter } from './usage.ts';

const MS_PER_MINUTE = 60_000;

/** The usage that each quota limits, and how much of it is one. */
const VENDOR_QUOTAS = {
  tokensPerDay: { kind: 'installationTokens', unit: 1 },
  charactersPerDay: { kind: 'installationCharacters', unit: 1 },
  recognitionMinutesPerDay: { kind: 'installationRecognitionMs', unit: MS_PER_MINUTE },
} as const satisfies Record<VendorQuota, { readonly kind: UsageKind; readonly unit: number }>;
const VENDOR_QUOTA_NAMES = Object.keys(VENDOR_QUOTAS) as VendorQuota[];

/** Counts a project's new sessions by UTC day, over all nodes. */
export interface SessionCounter {
  /** Counts one, unless the day's limit is reached. */
  take(projectId: string, limit: number): Promise<Allowance>;
  /** Today's count. */
  read(projectId: string): Promise<number>;
}

export interface DayQuotaDeps {
  readonly quotasOf: (projectId: string) => Promise<Quotas | undefined>;
  readonly sessions: SessionCounter;
  readonly meter: UsageMeter;
  readonly clock: Clock;
}

/** Counts a new session. @throws {CallwayError} 429 `quota_exceeded` */
export async function countSession(deps: DayQuotaDeps, projectId: string): Promise<void> {
  const quotas = await quotasFor(deps, projectId);
  await requireUnused(deps, projectId, quotas, VENDOR_QUOTA_NAMES);
  const limit = quotas.sessionsPerDay;
  const allowance = await deps.sessions.take(projectId, limit);
  if (!allowance.allowed) throw quotaExceeded('sessionsPerDay', limit, allowance.retryAfterSeconds);
  deps.meter.add(projectId, { sessions: 1 });
}

/**
 * Checks what a project has used of the installation's vendors today, before it uses more outside of a session.
 *
 * @param names - Default: all.
 * @throws {CallwayError} 429 `quota_exceeded`
 */
export async function requireVendorQuotas(
  deps: Omit<DayQuotaDeps, 'sessions'>,
  projectId: string,
  names: readonly VendorQuota[] = VENDOR_QUOTA_NAMES,
): Promise<void> {
  await requireUnused(deps, projectId, await quotasFor(deps, projectId), names);
}

/** @param usage - The day's usage. */
export function vendorQuotasUsed(usage: Partial<Record<UsageKind, number>>): Record<VendorQuota, number> {
  const used = ({ kind, unit }: (typeof VENDOR_QUOTAS)[VendorQuota]) =>
    Math.round((100 * (usage[kind] ?? 0)) / unit) / 100;
  return {
    tokensPerDay: used(VENDOR_QUOTAS.tokensPerDay),
    charactersPerDay: used(VENDOR_QUOTAS.charactersPerDay),
    recognitionMinutesPerDay: used(VENDOR_QUOTAS.recognitionMinutesPerDay),
  };
}

async function quotasFor({ quotasOf }: Omit<DayQuotaDeps, 'sessions'>, projectId: string): Promise<Quotas> {
  return (await quotasOf(projectId)) ?? DEFAULT_QUOTAS;
}

/** Usage is read only where there is a limit. It is known once a vendor has answered, so that sessions at once exceed it. */
async function requireUnused(
  { meter, clock }: Omit<DayQuotaDeps, 'sessions'>,
  projectId: string,
  quotas: Quotas,
  names: readonly VendorQuota[],
): Promise<void> {
  if (names.every((name) => quotas[name] === null)) return;
  const usage = await meter.today(projectId);
  for (const name of names) {
    const limit = quotas[name];
    const { kind, unit } = VENDOR_QUOTAS[name];
    if (limit !== null && (usage[kind] ?? 0) >= limit * unit)
      throw quotaExceeded(name, limit, Math.ceil((DAY_MS - (clock.now() % DAY_MS)) / 1000));
  }
}
