import type { Analysis } from '../engine/history/sessionResults.ts';
import type { Campaign, CampaignResource } from './campaign.ts';
import { isOver } from './campaign.ts';
import { hoursOf, nextAttemptMs, ownHours } from './campaignHours.ts';
import type { Contact, ContactResource, ContactStatus, SkipReason } from './contact.ts';

/** Returns a campaign as the API shows it. */
export function shownCampaign(campaign: Campaign): CampaignResource {
  const { id, name, description, status, statusReason, schedule, counts } = campaign;
  const { startAt, endAt } = schedule;
  const { timezone, windows } = ownHours(campaign) ?? { ...schedule, windows: [] };
  const { pending, calling, waiting, done, skipped } = counts;
  const total = pending + calling + waiting + done + skipped;
  const left = isOver(campaign) ? pending + waiting : 0;
  return {
    id,
    name,
    description: description ?? undefined,
    status,
    statusReason: statusReason ?? undefined,
    fromNumbers: [...campaign.fromNumbers],
    callerId: campaign.callerId,
    schedule: {
      startAt: startAt ?? undefined,
      endAt: endAt ?? undefined,
      timezone,
      windows: [...windows],
    },
    pacing: campaign.pacing,
    retry: { ...campaign.retry, rules: [...campaign.retry.rules] },
    variables: { ...campaign.variables },
    metadata: { ...campaign.metadata },
    pauseWhen: campaign.pauseWhen,
    keepOpen: campaign.keepOpen,
    counts:
      left > 0
        ? { total, pending: 0, calling, waiting: 0, done, skipped: skipped + left }
        : { total, ...counts },
    outcomes: campaign.outcomes,
    createdAt: campaign.createdAt,
    startedAt: campaign.startedAt ?? undefined,
    endedAt: campaign.endedAt ?? undefined,
  };
}

/**
 * Returns a contact as the API shows it: one that was left when its campaign ended counts as skipped.
 *
 * @param analysis - The analysis of its last attempt's call.
 */
export function shownContact(
  contact: Contact,
  campaign: Campaign,
  nowMs: number,
  analysis?: Analysis,
): ContactResource {
  const { id, toNumber, externalId, variables, timezone, priority, attempts, outcome } = contact;
  const isLeft = isOver(campaign) && isCallable(contact.status);
  const status = isLeft ? 'skipped' : contact.status;
  const nextMs = nextAttemptMs(campaign, hoursOf(campaign), contact, nowMs);
  const reason: SkipReason = campaign.status === 'canceled' ? 'canceled' : 'campaign_ended';
  return {
    id,
    toNumber,
    externalId: externalId ?? undefined,
    variables: { ...variables },
    timezone: timezone ?? undefined,
    priority,
    status,
    skipReason: status === 'skipped' ? (contact.skipReason ?? reason) : undefined,
    attempts: [...attempts],
    outcome: outcome ?? undefined,
    disposition: analysis?.disposition,
    success: analysis?.success,
    nextAttemptAt: nextMs === undefined ? undefined : new Date(nextMs).toISOString(),
  };
}

/** Returns the stored statuses that the API shows as this one. @see shownContact */
export function storedStatuses(status: ContactStatus, campaign: Campaign): readonly ContactStatus[] {
  if (!isOver(campaign)) return [status];
  if (isCallable(status)) return [];
  return status === 'skipped' ? ['skipped', 'pending', 'waiting'] : [status];
}

function isCallable(status: ContactStatus): boolean {
  return status === 'pending' || status === 'waiting';
}
