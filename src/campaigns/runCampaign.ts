import { CallwayError } from '../base/errors.ts';
import type { Clock } from '../base/values/clock.ts';
import { DEFAULT_MAX_DURATION_SECONDS, DEFAULT_RING_TIMEOUT_SECONDS } from '../calls/call.ts';
import type { AcceptedCall, InsertOnce, OrderStores, OutboundOrder } from '../calls/setup/outboundOrder.ts';
import type { LiveEvents } from '../events/liveEvents.ts';
import type { Again, ClaimedWork, DueWork } from '../work/work.ts';
import type { WorkKind } from '../work/worker.ts';
import type { Campaign } from './campaign.ts';
import { campaignEvent } from './campaignEvents.ts';
import { hoursOf, nextCallMs } from './campaignHours.ts';
import type { CampaignStore, ContactStore, DueContacts } from './campaignStore.ts';
import type { Contact, SkipReason } from './contact.ts';
import { fromNumbersFor } from './fromNumbers.ts';
import { nextSlotMs } from './pacing.ts';

/** Campaigns that a node works on at once; a step takes some ten milliseconds. */
const MAX_RUNNING = 50;
/** The delay until a number is tried again that has another call. */
const NUMBER_BUSY_MS = 60_000;
/** The delay until a campaign is tried again whose calls wait for a channel. */
const CHANNEL_WAIT_MS = 500;
/** A call that waits longer for a channel holds up the next ones of its campaign. */
const QUEUED_LONG_MS = 2_000;
/** Bounds of the delay while a limit of the project is reached, or the node takes no calls. */
const MIN_LIMIT_WAIT_MS = 1_000;
const MAX_LIMIT_WAIT_MS = 60_000;

interface CampaignStores extends OrderStores {
  readonly campaigns: CampaignStore;
  readonly campaignContacts: ContactStore;
  readonly dueContacts: DueContacts;
}

export interface RunCampaignDeps {
  readonly transaction: <Result>(work: (stores: CampaignStores) => Promise<Result>) => Promise<Result>;
  /** Places a call. @see acceptCall */
  readonly accept: (order: OutboundOrder, insertOnce: InsertOnce) => Promise<AcceptedCall>;
  readonly liveEvents: LiveEvents;
  readonly clock: Clock;
}

/** What is to be done for a campaign now. */
type Step =
  | { readonly call: Contact; readonly campaign: Campaign }
  /** Nothing, until then; undefined until something changes. */
  | { readonly againMs: number | undefined; readonly ended?: Campaign };

/** The contact is called no more, or not now: another step finds the next one. */
class ContactPassedError extends Error {}

/** The calling of campaigns' contacts, as a kind of work: each step of a campaign places one call at most. */
export function campaignWork(deps: RunCampaignDeps, rows: DueWork): WorkKind {
  return { name: 'campaigns', rows, run: (work) => runCampaign(deps, work), maxRunning: MAX_RUNNING };
}

/**
 * Calls the next contact of a campaign if its hours, its pace and the project's channels allow it, and moves the campaign
 * to the time of its next step.
 *
 * All state is in the database, changed with the campaign's row locked, so that any node may run a step at any time: the
 * transaction that stores the call also marks its contact and takes the pace's slot.
 */
export async function runCampaign(deps: RunCampaignDeps, work: ClaimedWork): Promise<Again | undefined> {
  const { clock, liveEvents } = deps;
  const step = await deps.transaction((stores) => nextStep(stores, work, clock.now()));
  const againMs = 'call' in step ? await callContact(deps, step.campaign, step.call) : step.againMs;
  if ('ended' in step && step.ended) liveEvents.publish(campaignEvent('campaign.completed', step.ended));
  return againMs === undefined ? undefined : { afterMs: Math.max(0, againMs - clock.now()) };
}

/** Finds the next contact, or else stores when to look again. */
async function nextStep(
  { campaigns, campaignContacts: _, dueContacts }: CampaignStores,
  { id, projectId }: ClaimedWork,
  nowMs: number,
): Promise<Step> {
  const campaign = await campaigns.find(projectId, id, 'for update');
  if (campaign?.status !== 'running') return { againMs: undefined };
  const { counts, schedule, pacing, pacedAt } = campaign;
  const endMs = schedule.endAt === null ? undefined : Date.parse(schedule.endAt);
  const hasLeft = counts.pending + counts.calling + counts.waiting > 0;
  if (endMs !== undefined && endMs <= nowMs) return await end(campaigns, campaign, 'ended', nowMs);
  if (!hasLeft && !campaign.keepOpen) return await end(campaigns, campaign, null, nowMs);
  const until = async (againMs: number | undefined): Promise<Step> => {
    const atMs = earliest([againMs, endMs]);
    await campaigns.update(campaign, { nextAt: atMs === undefined ? null : isoTime(atMs) });
    return { againMs: atMs };
  };
  // The end of a call goes on.
  if (counts.calling >= pacing.maxConcurrent) return await until(undefined);
  const rules = hoursOf(campaign);
  await dueContacts.release(id, isoTime(nowMs));
  const zones = await dueContacts.zones(id);
  const openings = zones.map((one) => ({ zones: one, atMs: nextCallMs(campaign, rules, one, nowMs) }));
  const open = openings.filter(({ atMs }) => atMs === nowMs);
  const slotMs = Math.max(nowMs, pacedAt === null ? nowMs : Date.parse(pacedAt));
  if (open.length === 0 || slotMs > nowMs) {
    const later = await dueContacts.nextRelease(id);
    const dueMs = earliest([
      ...openings.map(({ atMs }) => atMs),
      later === null ? undefined : Date.parse(later),
    ]);
    return await until(dueMs === undefined ? undefined : Math.max(dueMs, slotMs));
  }
  if (await dueContacts.hasQueued(id, isoTime(nowMs - QUEUED_LONG_MS)))
    return await until(nowMs + CHANNEL_WAIT_MS);
  const call = await dueContacts.first(
    id,
    open.map((one) => one.zones),
  );
  return call ? { call, campaign } : await until(nowMs);
}

async function end(
  campaigns: CampaignStore,
  campaign: Campaign,
  statusReason: string | null,
  nowMs: number,
): Promise<Step> {
  const change = { status: 'completed', statusReason, endedAt: isoTime(nowMs) } as const;
  await campaigns.update(campaign, { ...change, nextAt: null });
  return { againMs: undefined, ended: { ...campaign, ...change } };
}

/** Places the call of a contact. @returns When the campaign is due again. */
async function callContact(
  deps: RunCampaignDeps,
  campaign: Campaign,
  contact: Contact,
): Promise<number | undefined> {
  const numbers = fromNumbersFor(campaign, contact.toNumber, campaign.placed);
  for (const fromNumber of numbers) {
    try {
      return await place(deps, campaign, contact, fromNumber);
    } catch (error) {
      if (!(error instanceof CallwayError)) throw error;
      // A number that may not call, or has no trunk: the next one.
      if (error.category !== 'not_found') return await refused(deps, campaign, contact, error);
    }
  }
  return await pauseWithoutNumber(deps, campaign);
}

async function place(
  deps: RunCampaignDeps,
  campaign: Campaign,
  contact: Contact,
  fromNumber: string,
): Promise<number | undefined> {
  const { id: campaignId, projectId } = campaign;
  const order: OutboundOrder = {
    projectId,
    fromNumber,
    toNumber: contact.toNumber,
    dynamicVariables: { ...campaign.variables, ...contact.variables },
    ringTimeoutSeconds: DEFAULT_RING_TIMEOUT_SECONDS,
    maxDurationSeconds: DEFAULT_MAX_DURATION_SECONDS,
    detectAnsweringMachine: true,
    metadata: campaign.metadata,
    externalId: contact.externalId,
    campaign: { campaignId, contactId: contact.id },
    draft: false,
  };
  let againMs: number | undefined;
  try {
    await deps.accept(order, (insert) =>
      deps.transaction(async (stores) => {
        const { again, accepted } = await attempt(stores, deps.clock.now(), campaign, contact, insert);
        againMs = again;
        return accepted;
      }),
    );
    return againMs;
  } catch (error) {
    if (error instanceof ContactPassedError) return deps.clock.now();
    throw error;
  }
}

/** Stores the call of a contact that may still be called, in a transaction. @returns When the campaign is due again. */
async function attempt(
  stores: CampaignStores,
  nowMs: number,
  { id, projectId }: Campaign,
  { id: contactId }: Contact,
  insert: (stores: CampaignStores) => Promise<AcceptedCall>,
): Promise<{ readonly accepted: AcceptedCall; readonly again: number }> {
  const campaign = await stores.campaigns.find(projectId, id, 'for update');
  const contact = campaign && (await stores.campaignContacts.find(id, contactId, 'for update'));
  if (!campaign || !contact || !mayCall(campaign, contact, nowMs)) throw new ContactPassedError();
  const accepted = await insert(stores);
  const { callId } = accepted;
  const begun = { callId, at: isoTime(nowMs), outcome: null, endReason: null, durationMs: null };
  const attempts = [...contact.attempts, begun];
  await stores.campaignContacts.update({ ...contact, status: 'calling', attempts, callId }, contact);
  const pacedMs = campaign.pacedAt === null ? null : Date.parse(campaign.pacedAt);
  const again = nextSlotMs(pacedMs, nowMs, campaign.pacing.callsPerMinute);
  await stores.campaigns.update(campaign, {
    placed: campaign.placed + 1,
    pacedAt: isoTime(again),
    nextAt: isoTime(again),
  });
  return { accepted, again };
}

/** Another step may have called the contact, or used the pace's slot, since this one has looked. */
function mayCall(campaign: Campaign, { status, notBefore, zones }: Contact, nowMs: number): boolean {
  const { counts, pacing, pacedAt } = campaign;
  return (
    campaign.status === 'running' &&
    counts.calling < pacing.maxConcurrent &&
    (pacedAt === null || Date.parse(pacedAt) <= nowMs) &&
    (status === 'pending' || status === 'waiting') &&
    notBefore === null &&
    nextCallMs(campaign, hoursOf(campaign), zones, nowMs) === nowMs
  );
}

/** The refusals of an order that concern its number for good, with the reason for which the contact is skipped. */
const SKIPPED: Readonly<Record<string, SkipReason>> = {
  destination_not_allowed: 'destination_not_allowed',
  do_not_call: 'do_not_call',
  invalid_number: 'invalid_number',
};

/** Reacts to the refusal of an order. @returns When the campaign is due again. @throws The refusal, if it is unexpected. */
async function refused(
  deps: RunCampaignDeps,
  campaign: Campaign,
  contact: Contact,
  refusal: CallwayError,
): Promise<number> {
  const nowMs = deps.clock.now();
  const skipReason = SKIPPED[refusal.code];
  if (skipReason !== undefined) {
    await changeContact(deps, campaign, contact, { status: 'skipped', skipReason }, nowMs);
    return nowMs;
  }
  if (refusal.code === 'number_already_queued') {
    await changeContact(deps, campaign, contact, { notBefore: isoTime(nowMs + NUMBER_BUSY_MS) }, nowMs);
    return nowMs;
  }
  const isLimit = refusal.category === 'rate_limited';
  // A dependency that is away is reported, and the claim expires.
  const isNode = refusal.code === 'node_draining' || refusal.code === 'node_overloaded';
  if (!isLimit && !isNode) throw refusal;
  const waitMs = (refusal.retryAfterSeconds ?? 0) * 1_000;
  const againMs = nowMs + Math.min(MAX_LIMIT_WAIT_MS, Math.max(MIN_LIMIT_WAIT_MS, waitMs));
  await deps.transaction(({ campaigns }) => lookAgain(campaigns, campaign, againMs));
  return againMs;
}

async function changeContact(
  { transaction }: RunCampaignDeps,
  campaign: Campaign,
  { id }: Contact,
  change: Partial<Contact>,
  nowMs: number,
): Promise<void> {
  await transaction(async ({ campaigns, campaignContacts }) => {
    if (!(await lookAgain(campaigns, campaign, nowMs))) return;
    const contact = await campaignContacts.find(campaign.id, id, 'for update');
    if (contact?.status !== 'pending' && contact?.status !== 'waiting') return;
    await campaignContacts.update({ ...contact, ...change }, contact);
  });
}

/** @returns False when the campaign is running no longer. */
async function lookAgain(
  campaigns: CampaignStore,
  { id, projectId }: Campaign,
  atMs: number,
): Promise<boolean> {
  const campaign = await campaigns.find(projectId, id, 'for update');
  if (campaign?.status !== 'running') return false;
  await campaigns.update(campaign, { nextAt: isoTime(atMs) });
  return true;
}

async function pauseWithoutNumber(
  { transaction, liveEvents }: RunCampaignDeps,
  { id, projectId }: Campaign,
): Promise<undefined> {
  const change = { status: 'paused', statusReason: 'no_from_number', nextAt: null } as const;
  const paused = await transaction(async ({ campaigns }) => {
    const campaign = await campaigns.find(projectId, id, 'for update');
    if (campaign?.status !== 'running') return undefined;
    await campaigns.update(campaign, change);
    return { ...campaign, ...change };
  });
  if (paused) liveEvents.publish(campaignEvent('campaign.paused', paused));
}

function earliest(times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((one) => one !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
