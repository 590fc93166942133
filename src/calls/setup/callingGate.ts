import type { CallOrigin } from '../../agents/accounts/callingHours.ts';
import { CallwayError } from '../../base/errors.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { Call } from '../call.ts';
import type { CallStore } from '../callStore.ts';
import { isOpen, nextOpening, openHours, zonesFor } from '../hours/openHours.ts';
import type { CallLimiter } from '../limits/callLimiter.ts';
import { parseDestination } from '../limits/destinations.ts';
import type { CallingRules, CallingRulesOf } from '../numbers/doNotCall.ts';
import type { CallFinisher } from '../runner/callFinisher.ts';
import type { NumberLock } from './numberLock.ts';

/** Why a call may not be placed. */
export type CallingRefusal =
  | { readonly reason: 'do_not_call' }
  /** @property nextAllowedAt - ISO 8601; null where no allowed time comes. */
  | { readonly reason: 'outside_calling_hours'; readonly nextAllowedAt: string | null };

export interface PlannedCall {
  readonly projectId: string;
  /** In E.164. */
  readonly toNumber: string;
  readonly origin: CallOrigin;
}

/**
 * Decides whether an outbound call may be placed at a time, by the do-not-call lists and the project's calling hours. It is
 * asked when a call is ordered, when a scheduled one is due, and before each INVITE. Of legs that a call in progress adds
 * {@link isListed} asks the lists alone.
 *
 * @param atMs - Milliseconds since the Unix epoch.
 */
export async function callingRefusal(
  rulesOf: CallingRulesOf,
  { projectId, toNumber, origin }: PlannedCall,
  atMs: number,
): Promise<CallingRefusal | undefined> {
  const rules = await rulesOf(projectId, toNumber);
  if (rules.isListed) return { reason: 'do_not_call' };
  // A campaign keeps the hours itself, by the time zone of its contact.
  return origin === 'campaign' ? undefined : hoursRefusal(rules, toNumber, origin, atMs);
}

function hoursRefusal(
  { callingHours }: CallingRules,
  toNumber: string,
  origin: CallOrigin,
  atMs: number,
): CallingRefusal | undefined {
  if (!callingHours?.appliesTo.includes(origin)) return undefined;
  const { windows, exceptDates, timezone } = callingHours;
  const hours = [openHours(zonesFor(timezone, toNumber), windows, exceptDates)];
  if (isOpen(hours, atMs)) return undefined;
  const openingMs = nextOpening(hours, atMs);
  const nextAllowedAt = openingMs === undefined ? null : new Date(openingMs).toISOString();
  return { reason: 'outside_calling_hours', nextAllowedAt };
}

/** Whether a destination is a number on a do-not-call list. @param to - A number, or a SIP URI. */
export async function isListed(rulesOf: CallingRulesOf, projectId: string, to: string): Promise<boolean> {
  const number = parseDestination(to);
  return number !== undefined && (await rulesOf(projectId, number)).isListed;
}

/**
 * Returns a check of where a peer may redirect a leg: by the project's limits and by the lists; of an ordered call also by the
 * calling hours at the target, unless that is the number that was ordered.
 *
 * @param ordered - Undefined for a leg that a call in progress adds.
 */
export async function redirectRule(
  { limiter, callingRules }: { readonly limiter: CallLimiter; readonly callingRules: CallingRulesOf },
  projectId: string,
  ordered?: { readonly call: PlannedCall; readonly clock: Clock },
): Promise<(to: string) => Promise<boolean>> {
  const isAllowed = await limiter.allowedRedirects(projectId);
  return async (to) => {
    if (!isAllowed(to)) return false;
    const number = parseDestination(to);
    if (number === undefined) return true;
    const rules = await callingRules(projectId, number);
    if (rules.isListed || !ordered || number === ordered.call.toNumber) return !rules.isListed;
    return !hoursRefusal(rules, number, ordered.call.origin, ordered.clock.now());
  };
}

/** The error of an order that is refused: 422 `do_not_call` or `outside_calling_hours`. */
export function refusedOrder(toNumber: string, refusal: CallingRefusal): CallwayError {
  if (refusal.reason === 'do_not_call') {
    return new CallwayError('unprocessable', refusal.reason, `${toNumber} is on a do-not-call list`);
  }
  const { reason, nextAllowedAt } = refusal;
  const next =
    nextAllowedAt === null ? 'and no allowed time comes' : `the next allowed time is ${nextAllowedAt}`;
  const message = `This time is outside the project’s callingHours for ${toNumber}; ${next}`;
  return new CallwayError('unprocessable', reason, message, { extra: { nextAllowedAt } });
}

export interface GateDeps {
  readonly calls: { readonly postpone: CallStore['postpone'] };
  readonly callingRules: CallingRulesOf;
  readonly lock: NumberLock;
  readonly finisher: CallFinisher;
  readonly clock: Clock;
}

/**
 * Ends a waiting call that may not be placed now; a callback outside of the calling hours waits for the next allowed time.
 *
 * @param nodeId - The node that has claimed the call; null for none.
 * @returns False when the call may be placed.
 */
export async function endsOrWaits(
  { calls, callingRules, lock, finisher, clock }: GateDeps,
  call: Call,
  nodeId: string | null,
): Promise<boolean> {
  const nowMs = clock.now();
  const refusal = await callingRefusal(callingRules, plannedCall(call), nowMs);
  if (!refusal) return false;
  const { reason } = refusal;
  const laterAt =
    reason === 'outside_calling_hours' && call.settings.isCallback ? refusal.nextAllowedAt : null;
  if (laterAt !== null) {
    await calls.postpone(call.id, nodeId, laterAt);
    await lock.release(call.projectId, call.toNumber, call.id);
  } else {
    const endedAt = new Date(nowMs).toISOString();
    await finisher.finish(call, nodeId, { status: 'canceled', endReason: reason, endedAt });
  }
  return true;
}

export function plannedCall({ projectId, toNumber, settings, campaignId }: Call): PlannedCall {
  if (campaignId !== null) return { projectId, toNumber, origin: 'campaign' };
  return { projectId, toNumber, origin: settings.isCallback ? 'callback' : 'api' };
}
