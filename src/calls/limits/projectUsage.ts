import type { CallLimits } from '../../agents/accounts/callLimits.ts';
import { parseDestination } from './destinations.ts';

/** A project's calls, counted over all nodes. */
export interface ProjectUsage {
  /**
   * Counts an accepted outbound call, unless it would exceed a limit.
   *
   * @returns Undefined when the call was counted, else the seconds to wait.
   */
  countCall(
    projectId: string,
    limits: { readonly perMinute: number | null; readonly perHour: number | null },
  ): Promise<number | undefined>;
  /** Takes one of the slots for simultaneous calls; a call that has a slot keeps it. Unrenewed slots expire. */
  acquireSlot(projectId: string, callId: string, slots: number): Promise<boolean>;
  renewSlot(projectId: string, callId: string): Promise<void>;
  releaseSlot(projectId: string, callId: string): Promise<void>;
}

export const MILLIONTHS_PER_UNIT = 1_000_000;
export const MS_PER_MINUTE = 60_000;

/**
 * The cost of talk time by {@link carrierRate}; 0 when no rate matches.
 *
 * @returns Whole millionths of the currency.
 */
export function callCostMillionths(rates: CallLimits['rates'], to: string, talkTimeMs: number): number {
  const perMinute = carrierRate(rates, to) ?? 0;
  return Math.round((perMinute * MILLIONTHS_PER_UNIT * talkTimeMs) / MS_PER_MINUTE);
}

/**
 * The price of a minute by the longest prefix that matches the destination; undefined when none matches.
 *
 * @param to - A number, or a SIP URI with a number in it. An unreadable one has the rate of the prefix `+`.
 */
export function carrierRate(rates: CallLimits['rates'], to: string): number | undefined {
  const number = parseDestination(to);
  const matching = rates.filter(({ prefix }) => prefix === '+' || number?.startsWith(prefix));
  return matching.sort((one, other) => other.prefix.length - one.prefix.length)[0]?.perMinute;
}
