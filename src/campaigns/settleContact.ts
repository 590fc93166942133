import { type Clock, MINUTE_MS } from '../base/values/clock.ts';
import { type Call, talkTimeMs } from '../calls/call.ts';
import type { HistoryStore } from '../engine/history/historyStore.ts';
import type { LiveEvents } from '../events/liveEvents.ts';
import type { WakeWork } from '../work/work.ts';
import { attemptEnd, isFailing, retryAfterMinutes, withOutcome } from './attempt.ts';
import { type Campaign, isOver } from './campaign.ts';
import { campaignEvent, contactFinished } from './campaignEvents.ts';
import type { CampaignStore, ContactStore } from './campaignStore.ts';
import type { Contact, ContactOutcome } from './contact.ts';

interface SettleStores {
  readonly campaigns: CampaignStore;
  readonly campaignContacts: ContactStore;
}

interface AnnounceDeps {
  readonly transaction: <Result>(work: (stores: SettleStores) => Promise<Result>) => Promise<Result>;
  readonly history: HistoryStore;
  readonly liveEvents: LiveEvents;
}

export interface SettleContactDeps extends AnnounceDeps {
  /** Tells a node that places campaigns' calls. */
  readonly wake: WakeWork;
  readonly clock: Clock;
}

/** A contact and its campaign after a call has ended. */
interface Settled {
  readonly campaign: Campaign;
  readonly contact: Contact;
  /** Too many attempts have failed. */
  readonly isPaused: boolean;
}

/** Settles the contact that an ended call was placed for; repeated for the same call it changes nothing. */
export async function settleContact(deps: SettleContactDeps, call: Call): Promise<void> {
  const { liveEvents, clock, wake, history } = deps;
  const settled = await deps.transaction((stores) => settle(stores, call, clock.now()));
  if (!settled) return;
  const { campaign, contact, isPaused } = settled;
  if (contact.status === 'done' && !(await history.awaitsAnalysis(call))) await announceFinished(deps, call);
  if (isPaused) liveEvents.publish(campaignEvent('campaign.paused', campaign));
  if (campaign.status === 'running') await wake(campaign.id);
}

/** Publishes that a contact is finished, once, after the call of its last attempt. */
export async function announceFinished(
  { transaction, history, liveEvents }: AnnounceDeps,
  call: Call,
): Promise<void> {
  const { contactId } = call;
  if (contactId === null) return;
  const contact = await transaction(({ campaignContacts }) => campaignContacts.announce(contactId, call.id));
  if (!contact || contact.outcome === null) return;
  const analyses = await history.analyses(call.projectId, [call.id]);
  liveEvents.publish(contactFinished(contact, contact.outcome, call, analyses.get(call.id)));
}

async function settle(
  { campaigns, campaignContacts }: SettleStores,
  call: Call,
  nowMs: number,
): Promise<Settled | undefined> {
  const { projectId, campaignId, contactId } = call;
  if (campaignId === null || contactId === null) return undefined;
  const campaign = await campaigns.find(projectId, campaignId, 'for update');
  const before = campaign && (await campaignContacts.find(campaignId, contactId, 'for update'));
  if (!campaign || before?.callId !== call.id) return undefined;
  const end = attemptEnd(call);
  const contact = afterAttempt(before, campaign, call, nowMs);
  await campaignContacts.update(contact, before);
  if (campaign.status !== 'running') return { campaign, contact, isPaused: false };
  const nextAt = new Date(nowMs).toISOString();
  if (end.outcome === 'put_back' || end.outcome === 'do_not_call') {
    await campaigns.update(campaign, { nextAt });
    return { campaign, contact, isPaused: false };
  }
  const { pauseWhen } = campaign;
  const recentOutcomes = withOutcome(campaign.recentOutcomes, end.outcome, pauseWhen);
  const isPaused = isFailing(recentOutcomes, pauseWhen);
  const paused = { status: 'paused', statusReason: 'too_many_failed', nextAt: null } as const;
  const change = isPaused ? { recentOutcomes, ...paused } : { recentOutcomes, nextAt };
  await campaigns.update(campaign, change);
  return { campaign: { ...campaign, ...change }, contact, isPaused };
}

/** Returns the contact after its attempt. */
function afterAttempt(contact: Contact, campaign: Campaign, call: Call, nowMs: number): Contact {
  const { outcome } = attemptEnd(call);
  const settled = { ...contact, callId: null };
  if (outcome === 'do_not_call' || outcome === 'put_back') {
    const attempts = contact.attempts.filter(({ callId }) => callId !== call.id);
    const skipReason = contact.skipReason ?? (outcome === 'do_not_call' ? outcome : null);
    const unplaced = attempts.length > 0 ? ('waiting' as const) : ('pending' as const);
    return { ...settled, attempts, skipReason, status: skipReason === null ? unplaced : 'skipped' };
  }
  const attempts = contact.attempts.map((one) => (one.callId === call.id ? attemptOf(call, outcome) : one));
  const ended = { ...settled, attempts, outcome };
  const afterMinutes = retryAfterMinutes(campaign.retry, outcome, attempts.length);
  const isLast = afterMinutes === undefined || contact.skipReason !== null || isOver(campaign);
  const endedMs = call.endedAt === null ? nowMs : Date.parse(call.endedAt);
  if (isLast) return { ...ended, status: 'done', skipReason: null };
  return {
    ...ended,
    status: 'waiting',
    notBefore: new Date(endedMs + afterMinutes * MINUTE_MS).toISOString(),
  };
}

function attemptOf(call: Call, outcome: ContactOutcome): Contact['attempts'][number] {
  const { id: callId, startedAt, createdAt, endReason } = call;
  return { callId, at: startedAt ?? createdAt, outcome, endReason, durationMs: talkTimeMs(call) };
}
