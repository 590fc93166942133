import type { Call } from '../calls/call.ts';
import type { Analysis } from '../engine/history/sessionResults.ts';
import type { LiveEventType, NewLiveEvent } from '../events/liveEvent.ts';
import type { Campaign } from './campaign.ts';
import type { Contact, ContactOutcome } from './contact.ts';

type CampaignEventType = Extract<LiveEventType, `campaign.${string}`>;

export function campaignEvent(
  type: CampaignEventType,
  { id, projectId, name, statusReason }: Campaign,
): NewLiveEvent {
  return { type, projectId, data: { campaignId: id, name, statusReason: statusReason ?? undefined } };
}

/** @param call - The call of the last attempt, which ended with the outcome. */
export function contactFinished(
  contact: Contact,
  outcome: ContactOutcome,
  { id: callId, sessionId, release }: Call,
  { disposition, data }: Partial<Analysis> = {},
): NewLiveEvent {
  const { id: contactId, campaignId, projectId, externalId, attempts } = contact;
  const ended = { outcome, attempts: attempts.length, callId, disposition, data };
  const told = { campaignId, contactId, externalId, ...ended };
  return { type: 'contact.finished', projectId, sessionId, callId, release, data: told };
}
