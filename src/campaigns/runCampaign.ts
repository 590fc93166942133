import { CallwayError } from '../base/errors.ts';
import type { Clock } from '../base/values/clock.ts';
import { type Call, DEFAULT_MAX_DURATION_SECONDS, DEFAULT_RING_TIMEOUT_SECONDS } from '../calls/call.ts';
import type { AcceptedCall, InsertOnce, OrderStores, OutboundOrder } from '../calls/setup/outboundOrder.ts';
import type { HistoryStore } from '../engine/history/historyStore.ts';
import type { LiveEvents } from '../events/liveEvents.ts';
import type { Again, ClaimedWork, DueWork } from '../work/work.ts';
import type { WorkKind } from '../work/worker.ts';
import { retryAfterMinutes } from './attempt.ts';
import type { Campaign } from './campaign.ts';
import { campaignEvent } from './campaignEvents.ts';
import { hoursOf, nextCallMs } from './campaignHours.ts';
import type { CampaignChange, CampaignStore, ContactStore, DueContacts } from './campaignStore.ts';
import type { Contact, SkipReason } from './contact.ts';
import { fromNumbersFor } from './fromNumbers.ts';
import { nextSlotMs } from './pacing.ts';
import { announceFinished } from './settleContact.ts';

/** Campaigns that a node works on at once; a step takes some ten milliseconds. */
const MAX_RUNNING = 50;
/** How long a contact is reserved for the step that has chosen it, so that another node's step chooses the next one. */
const RESERVED_MS = 60_000;
/** The delay of a contact whose number has another call. */
const NUMBER_WAIT_MS = 5_000;
/** The delay of a campaign whose calls wait for a channel. */
const CHANNEL_WAIT_MS = 500;
/** The delay of a campaign that has no one left to call, while a file is read into it. */
const IMPORT_WAIT_MS = 1_000;
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
  readonly history: HistoryStore;
  readonly liveEvents: LiveEvents;
  readonly clock: Clock;
}

/** What is to be done for a campaign now. */
type Step =
  | { readonly choice: Choice; readonly againMs: number }
  /** Nothing, until then; undefined until something changes. */
  | {
      readonly againMs: number | undefined;
      readonly ended?: Campaign;
      /** The last call of a contact that is not called again. */
      readonly finished?: Call | undefined;
    };

/** A contact that is reserved for a step, and its campaign before it was chosen. */
interface Choice {
  readonly campaign: Campaign;
  readonly contact: Contact;
  /** When the call after it may be placed. */
  readonly pacedAt: string;
}

/** The contact may not be called any more, or not now; another step finds the next one. */
class ContactPassedError extends Error {}

/** Returns the calling of contacts as a kind of work. Each step of a campaign places at most one call. */
export function campaignWork(deps: RunCampaignDeps, rows: DueWork): WorkKind {
  return { name: 'campaigns', rows, run: (work) => runCampaign(deps, work), maxRunning: MAX_RUNNING };
}

/**
 * Calls the next contact of a campaign if its hours, its pace and the project's channels allow it, and moves the campaign
 * to the time of its next step.
 *
 * All state is in the database, changed with the campaign's row locked, so that any node may run a step at any time: one
 * transaction chooses a contact and takes the pace's slot, another stores the call and marks the contact.
 */
export async function runCampaign(deps: RunCampaignDeps, work: ClaimedWork): Promise<Again | undefined> {
  const { clock, liveEvents } = deps;
  const step = await deps.transaction((stores) => nextStep(stores, work, clock.now()));
  const givenBackMs = 'choice' in step ? await callContact(deps, step.choice) : undefined;
  const againMs = givenBackMs ?? step.againMs;
  if ('finished' in step && step.finished) await announceFinished(deps, step.finished);
  if ('ended' in step && step.ended) liveEvents.publish(campaignEvent('campaign.completed', step.ended));
  return againMs === undefined ? undefined : { afterMs: Math.max(0, againMs - clock.now()) };
}

/** Finds the next contact, or else stores when to look again. */
async function nextStep(
  stores: CampaignStores,
  { id, projectId }: ClaimedWork,
  nowMs: number,
): Promise<Step> {
  const { campaigns, campaignContacts, dueContacts } = stores;
  const campaign = await campaigns.find(projectId, id, 'for update');
  if (campaign?.status !== 'running') return { againMs: undefined };
  const { counts, schedule, pacing, pacedAt } = campaign;
  const endMs = schedule.endAt === null ? undefined : Date.parse(schedule.endAt);
  const hasLeft = counts.pending + counts.calling + counts.waiting > 0;
  if (endMs !== undefined && endMs <= nowMs) return await end(campaigns, campaign, 'ended', nowMs);
  if (!hasLeft && !campaign.keepOpen && !(await dueContacts.isImporting(id)))
    return await end(campaigns, campaign, null, nowMs);
  const until = async (againMs: number | undefined): Promise<Step> => {
    const atMs = earliest([againMs, endMs]);
    await campaigns.update(campaign, { nextAt: atMs === undefined ? null : isoTime(atMs) });
    return { againMs: atMs };
  };
  if (!hasLeft && !campaign.keepOpen) return await until(nowMs + IMPORT_WAIT_MS);
  // The end of a call goes on.
  if (counts.calling >= pacing.maxConcurrent) return await until(undefined);
  const rules = hoursOf(campaign);
  await dueContacts.release(id, isoTime(nowMs));
  const zones = await dueContacts.zones(id);
  const openings = zones.map((one) => ({ zones: one, atMs: nextCallMs(campaign, rules, one, nowMs) }));
  const open = openings.filter(({ atMs }) => atMs === nowMs);
  const pacedMs = pacedAt === null ? null : Date.parse(pacedAt);
  const slotMs = Math.max(nowMs, pacedMs ?? nowMs);
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
  const first = await dueContacts.first(
    id,
    open.map((one) => one.zones),
  );
  if (!first) return await until(nowMs);
  if (isCalledNoMore(campaign, first))
    return { ...(await until(nowMs)), finished: await finish(stores, first) };
  const contact = { ...first, notBefore: isoTime(nowMs + RESERVED_MS) };
  await campaignContacts.update(contact, first);
  const againMs = nextSlotMs(pacedMs, nowMs, pacing.callsPerMinute);
  const next = isoTime(againMs);
  await campaigns.update(campaign, { placed: campaign.placed + 1, pacedAt: next, nextAt: next });
  return { choice: { campaign, contact, pacedAt: next }, againMs };
}

/** The retries of the campaign may have been changed since the contact's last attempt. */
function isCalledNoMore({ retry }: Campaign, { outcome, attempts }: Contact): boolean {
  return outcome !== null && retryAfterMinutes(retry, outcome, attempts.length) === undefined;
}

/** @returns The call of its last attempt. */
async function finish(
  { campaignContacts, calls }: CampaignStores,
  contact: Contact,
): Promise<Call | undefined> {
  await campaignContacts.update({ ...contact, status: 'done' }, contact);
  const last = contact.attempts.at(-1);
  return last && (await calls.find(contact.projectId, last.callId));
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

/** Places the call of a contact. @returns When the campaign is due again, where it was not placed. */
async function callContact(deps: RunCampaignDeps, choice: Choice): Promise<number | undefined> {
  const { campaign, contact } = choice;
  for (const fromNumber of fromNumbersFor(campaign, contact.toNumber, campaign.placed)) {
    try {
      return await place(deps, choice, fromNumber);
    } catch (error) {
      if (!(error instanceof CallwayError)) throw error;
      // A number that may not call, or has no trunk: the next one.
      if (error.category !== 'not_found') return await refused(deps, choice, error);
    }
  }
  const paused = { status: 'paused', statusReason: 'no_from_number', nextAt: null } as const;
  const changed = await giveBack(deps, choice, { notBefore: null }, paused);
  if (changed) deps.liveEvents.publish(campaignEvent('campaign.paused', { ...changed, ...paused }));
  return undefined;
}

async function place(deps: RunCampaignDeps, choice: Choice, fromNumber: string): Promise<number | undefined> {
  const { campaign, contact } = choice;
  const order: OutboundOrder = {
    projectId: campaign.projectId,
    fromNumber,
    toNumber: contact.toNumber,
    dynamicVariables: { ...campaign.variables, ...contact.variables },
    ringTimeoutSeconds: DEFAULT_RING_TIMEOUT_SECONDS,
    maxDurationSeconds: DEFAULT_MAX_DURATION_SECONDS,
    detectAnsweringMachine: true,
    metadata: campaign.metadata,
    externalId: contact.externalId,
    campaign: { campaignId: campaign.id, contactId: contact.id },
    draft: false,
  };
  try {
    await deps.accept(order, (insert) =>
      deps.transaction((stores) => attempt(stores, deps.clock.now(), choice, insert)),
    );
    return undefined;
  } catch (error) {
    if (!(error instanceof ContactPassedError)) throw error;
    const nowMs = deps.clock.now();
    await giveBack(deps, choice, { notBefore: null }, { nextAt: isoTime(nowMs) });
    return nowMs;
  }
}

/** Stores the call of a contact that may still be called, in a transaction. */
async function attempt(
  stores: CampaignStores,
  nowMs: number,
  { campaign: { id, projectId }, contact: chosen }: Choice,
  insert: (stores: CampaignStores) => Promise<AcceptedCall>,
): Promise<AcceptedCall> {
  const campaign = await stores.campaigns.find(projectId, id, 'for update');
  const contact = campaign && (await stores.campaignContacts.find(id, chosen.id, 'for update'));
  if (!campaign || !isReserved(contact, chosen) || !mayCall(campaign, contact, nowMs))
    throw new ContactPassedError();
  const accepted = await insert(stores);
  const { callId } = accepted;
  const begun = { callId, at: isoTime(nowMs), outcome: null, endReason: null, durationMs: null };
  const called = { ...contact, attempts: [...contact.attempts, begun], callId, notBefore: null };
  await stores.campaignContacts.update({ ...called, status: 'calling' }, contact);
  return accepted;
}

/** The campaign may have changed since this step has looked, and other steps may have placed calls. */
function mayCall(campaign: Campaign, { zones }: Contact, nowMs: number): boolean {
  return (
    campaign.status === 'running' &&
    campaign.counts.calling < campaign.pacing.maxConcurrent &&
    nextCallMs(campaign, hoursOf(campaign), zones, nowMs) === nowMs
  );
}

/** The reservation may have expired, or the contact may have been removed. */
function isReserved(contact: Contact | undefined, chosen: Contact): contact is Contact {
  return contact?.status === chosen.status && contact.notBefore === chosen.notBefore;
}

/** The permanent refusals of a number, with the reason for which its contact is skipped. */
const SKIPPED: Readonly<Record<string, SkipReason>> = {
  destination_not_allowed: 'destination_not_allowed',
  do_not_call: 'do_not_call',
  invalid_number: 'invalid_number',
};

/** Reacts to the refusal of an order. @returns When the campaign is due again. @throws The refusal, if it is unexpected. */
async function refused(deps: RunCampaignDeps, choice: Choice, refusal: CallwayError): Promise<number> {
  const nowMs = deps.clock.now();
  const skipReason = SKIPPED[refusal.code];
  if (skipReason !== undefined) {
    const skipped = { status: 'skipped', skipReason, notBefore: null } as const;
    await giveBack(deps, choice, skipped, { nextAt: isoTime(nowMs) });
    return nowMs;
  }
  if (refusal.code === 'number_already_queued') {
    await giveBack(deps, choice, { notBefore: isoTime(nowMs + NUMBER_WAIT_MS) }, { nextAt: isoTime(nowMs) });
    return nowMs;
  }
  const waitMs = (refusal.retryAfterSeconds ?? 0) * 1_000;
  const againMs = nowMs + Math.min(MAX_LIMIT_WAIT_MS, Math.max(MIN_LIMIT_WAIT_MS, waitMs));
  await giveBack(deps, choice, { notBefore: null }, { nextAt: isoTime(againMs) });
  const isNode = refusal.code === 'node_draining' || refusal.code === 'node_overloaded';
  // A dependency that is away is reported.
  if (refusal.category !== 'rate_limited' && !isNode) throw refusal;
  return againMs;
}

/**
 * Gives back a contact that was not called, and its slot of the pace while no other step has taken one.
 *
 * @param change - What the contact becomes.
 * @param next - What the campaign becomes while it is running.
 * @returns The campaign as it was; undefined when it was running no longer.
 */
async function giveBack(
  { transaction }: RunCampaignDeps,
  { campaign: before, contact: chosen, pacedAt }: Choice,
  change: Partial<Contact>,
  next: CampaignChange,
): Promise<Campaign | undefined> {
  return await transaction(async ({ campaigns, campaignContacts }) => {
    const campaign = await campaigns.find(before.projectId, before.id, 'for update');
    if (!campaign) return undefined;
    const contact = await campaignContacts.find(before.id, chosen.id, 'for update');
    if (isReserved(contact, chosen)) await campaignContacts.update({ ...contact, ...change }, contact);
    if (campaign.status !== 'running') return undefined;
    const isLast = campaign.pacedAt === pacedAt;
    await campaigns.update(campaign, {
      ...next,
      pacedAt: isLast ? (before.pacedAt ?? undefined) : undefined,
    });
    return campaign;
  });
}

function earliest(times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((one) => one !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
