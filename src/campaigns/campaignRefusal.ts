import type { Clock } from '../base/values/clock.ts';
import type { Call } from '../calls/call.ts';
import { hoursOf, nextCallMs } from './campaignHours.ts';
import type { CampaignStore, ContactStore } from './campaignStore.ts';

export interface CampaignRefusalDeps {
  readonly campaigns: CampaignStore;
  readonly campaignContacts: ContactStore;
  readonly clock: Clock;
}

/**
 * Asks at the moment of the INVITE whether a campaign may still place a call. While the call waited for a
 * channel, the campaign may have stopped, its contact may have been removed, or its hours may have ended.
 *
 * @returns Undefined where it may, and for a call of no campaign.
 */
export async function campaignRefusal(
  { campaigns, campaignContacts, clock }: CampaignRefusalDeps,
  { id, projectId, campaignId, contactId }: Call,
): Promise<'campaign_stopped' | 'outside_calling_hours' | undefined> {
  if (campaignId === null || contactId === null) return undefined;
  const campaign = await campaigns.find(projectId, campaignId);
  const contact = campaign && (await campaignContacts.find(campaignId, contactId));
  const isWanted = campaign?.status === 'running' && contact?.callId === id && contact.skipReason === null;
  if (!isWanted) return 'campaign_stopped';
  const nowMs = clock.now();
  const isOpen = nextCallMs(campaign, hoursOf(campaign), contact.zones, nowMs) === nowMs;
  return isOpen ? undefined : 'outside_calling_hours';
}
