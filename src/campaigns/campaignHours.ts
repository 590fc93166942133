import type { CallingWindow } from '../agents/accounts/callingHours.ts';
import { nextOpening, openHours } from '../calls/hours/openHours.ts';
import { type Campaign, isOver } from './campaign.ts';
import type { Contact } from './contact.ts';

/** Weekly hours in one time zone, or in that of each callee. */
export interface HoursRule {
  /** `callee`, or an IANA name. */
  readonly timezone: string;
  readonly windows: readonly CallingWindow[];
  readonly exceptDates?: readonly string[] | undefined;
}

/** Returns the rules that a campaign's calls must meet; none when it may call at any hour. */
export function hoursOf(campaign: Campaign): readonly HoursRule[] {
  const { callingHours } = campaign;
  const own = ownHours(campaign);
  if (!own) return [];
  return own !== callingHours && callingHours?.appliesTo.includes('campaign') ? [own, callingHours] : [own];
}

/**
 * Returns a campaign's own hours. Without windows of its own they are those of `callingHours`, by the zone that it names.
 *
 * @returns Undefined when any hour is open.
 */
export function ownHours({ schedule: { timezone, windows }, callingHours }: Campaign): HoursRule | undefined {
  if (windows !== null) return { timezone, windows };
  if (!callingHours || timezone === 'callee') return callingHours ?? undefined;
  return { ...callingHours, timezone };
}

/**
 * Returns when contacts of these zones may be called next.
 *
 * @param fromMs - Not before it, in milliseconds since the Unix epoch.
 * @returns Milliseconds since the Unix epoch; undefined where no hour before the campaign's end allows it.
 */
export function nextCallMs(
  { schedule: { startAt, endAt } }: Campaign,
  rules: readonly HoursRule[],
  zones: readonly string[],
  fromMs: number,
): number | undefined {
  const earliestMs = Math.max(fromMs, startAt === null ? fromMs : Date.parse(startAt));
  const hours = rules.map(({ timezone, windows, exceptDates }) =>
    openHours(timezone === 'callee' ? zones : [timezone], windows, exceptDates),
  );
  const opensMs = nextOpening(hours, earliestMs);
  return opensMs !== undefined && endAt !== null && opensMs >= Date.parse(endAt) ? undefined : opensMs;
}

/** Returns when a contact may be called next, as far as can be seen now; undefined where it is not called any more. */
export function nextAttemptMs(
  campaign: Campaign,
  rules: readonly HoursRule[],
  { status, zones, notBefore }: Contact,
  nowMs: number,
): number | undefined {
  if (isOver(campaign) || (status !== 'pending' && status !== 'waiting')) return undefined;
  return nextCallMs(
    campaign,
    rules,
    zones,
    Math.max(nowMs, notBefore === null ? nowMs : Date.parse(notBefore)),
  );
}
