import type { Call } from '../calls/call.ts';
import type { CampaignSettings } from './campaign.ts';
import type { ContactOutcome } from './contact.ts';

/** What the end of a call means for its contact. */
export type AttemptEnd =
  | { readonly outcome: ContactOutcome }
  /** The call was not placed, for a reason that passes: the contact is called as if there had been no attempt. */
  | { readonly outcome: 'put_back' }
  /** The call was not placed, and the contact is called no more. */
  | { readonly outcome: 'do_not_call' };

/** Attempts after which it is first judged whether too many fail. */
const MIN_JUDGED = 10;
const FAILED = 'f';
const OTHER = '.';

/** Returns what the end of a campaign's call means for its contact. */
export function attemptEnd({ status, endReason, answeringMachine }: Call): AttemptEnd {
  switch (status) {
    case 'completed':
      if (answeringMachine === 'machine' || answeringMachine === 'screening')
        return { outcome: answeringMachine };
      return { outcome: 'answered' };
    case 'busy':
    case 'no_answer':
      return { outcome: status };
    case 'canceled':
      if (endReason === 'do_not_call') return { outcome: endReason };
      if (endReason === 'outside_calling_hours' || endReason === 'campaign_stopped')
        return { outcome: 'put_back' };
      return { outcome: 'canceled' };
    default:
      if (endReason === 'declined' || endReason === 'invalid_number') return { outcome: endReason };
      return { outcome: 'failed' };
  }
}

/**
 * Returns after how many minutes a contact is called again.
 *
 * @param attempts - The attempts until now.
 * @returns Undefined when it is not called again.
 */
export function retryAfterMinutes(
  { maxAttempts, rules }: CampaignSettings['retry'],
  outcome: ContactOutcome,
  attempts: number,
): number | undefined {
  if (attempts >= maxAttempts) return undefined;
  return rules.find(({ outcomes }) => outcomes.some((one) => one === outcome))?.afterMinutes;
}

/** Adds an outcome to the last ones of a campaign, as many as are judged. @see Campaign.recentOutcomes */
export function withOutcome(
  recent: string,
  outcome: ContactOutcome,
  pauseWhen: CampaignSettings['pauseWhen'],
): string {
  const kept = Math.max(MIN_JUDGED, pauseWhen?.ofLast ?? 0);
  return (recent + (outcome === 'failed' ? FAILED : OTHER)).slice(-kept);
}

/** Tells whether so many of the last attempts have failed that the campaign is to pause. */
export function isFailing(recent: string, pauseWhen: CampaignSettings['pauseWhen']): boolean {
  if (pauseWhen === null || recent.length < MIN_JUDGED) return false;
  const last = recent.slice(-pauseWhen.ofLast);
  const failed = last.split(FAILED).length - 1;
  return failed * 100 >= pauseWhen.failedPercent * last.length;
}
