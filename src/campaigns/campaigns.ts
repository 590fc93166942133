import { CallwayError, type ErrorDetail } from '../base/errors.ts';
import type { MakeId } from '../base/values/ids.ts';
import { omitUndefined } from '../base/values/omitUndefined.ts';
import type { PhoneNumberStore } from '../calls/numbers/phoneNumberStore.ts';
import { candidateTrunks } from '../calls/trunks/trunkSelection.ts';
import type { TrunkStore } from '../calls/trunks/trunkStore.ts';
import type { LiveEvents } from '../events/liveEvents.ts';
import type { WakeWork } from '../work/work.ts';
import { type Campaign, isOver } from './campaign.ts';
import { campaignEvent } from './campaignEvents.ts';
import { hoursOf, nextCallMs } from './campaignHours.ts';
import type { CampaignStore, ContactStore, DueContacts } from './campaignStore.ts';
import type { ContactInput, SkippedRow } from './contact.ts';
import { duplicate, type ReadRow, readRows } from './readRows.ts';

/** The most contacts of a campaign. */
const MAX_CONTACTS = 1_000_000;

export interface CampaignsDeps {
  /** Returns those of the numbers that are on a do-not-call list. */
  readonly listedAmong: (projectId: string, numbers: readonly string[]) => Promise<ReadonlySet<string>>;
  /** Tells a node that places campaigns' calls. */
  readonly wake: WakeWork;
  readonly liveEvents: LiveEvents;
  /** Returns a check of the destinations that a project may call. @see readRows */
  readonly destinations: (projectId: string) => Promise<(toNumber: string) => string | undefined>;
  readonly clock: { now(): number };
  readonly makeId: MakeId;
}

/** The stores of a transaction. */
interface ListStores {
  readonly campaigns: CampaignStore;
  readonly campaignContacts: ContactStore;
}

interface CampaignStores extends ListStores {
  readonly dueContacts: DueContacts;
  readonly phoneNumbers: PhoneNumberStore;
  readonly trunks: TrunkStore;
}

export const TRANSITIONS = ['start', 'pause', 'resume', 'cancel'] as const;
export type Transition = (typeof TRANSITIONS)[number];

/** The states from which each transition starts, the state in which it ends, and its event. */
const CHANGES = {
  start: { from: ['draft'], to: 'running', event: 'campaign.started' },
  pause: { from: ['running'], to: 'paused', event: 'campaign.paused' },
  resume: { from: ['paused'], to: 'running', event: 'campaign.resumed' },
  cancel: { from: ['draft', 'running', 'paused'], to: 'canceled', event: 'campaign.canceled' },
} as const;

/** Changes campaigns, and adds contacts. */
export class Campaigns {
  readonly #deps: CampaignsDeps;

  constructor(deps: CampaignsDeps) {
    this.#deps = deps;
  }

  /** Reads rows of a list, before the transaction that adds them. @returns A result for each row, in order. */
  async read(campaign: Campaign, rows: readonly ContactInput[]): Promise<ReadRow[]> {
    const { destinations, listedAmong, makeId } = this.#deps;
    const refusalOf = await destinations(campaign.projectId);
    return await readRows(
      { refusalOf, listed: (numbers) => listedAmong(campaign.projectId, numbers), makeId },
      campaign,
      rows,
    );
  }

  /**
   * Adds the contacts of rows that were read, in a transaction. Rows whose number the campaign has already are skipped.
   *
   * @returns The rows that were not taken.
   * @throws {CallwayError} 409 `campaign_state`, `campaign_full`; 404 where the campaign was removed meanwhile.
   */
  async add(
    { campaigns, campaignContacts }: ListStores,
    { id, projectId }: Campaign,
    rows: readonly ReadRow[],
  ): Promise<SkippedRow[]> {
    const campaign = requireCampaign(await campaigns.find(projectId, id, 'for update'));
    if (isOver(campaign)) throw wrongState(campaign, 'takes no more contacts');
    const contacts = rows.flatMap((row) => ('contact' in row ? row.contact : []));
    const { pending, calling, waiting, done, skipped } = campaign.counts;
    if (pending + calling + waiting + done + skipped + contacts.length > MAX_CONTACTS) {
      const message = `A campaign has at most ${MAX_CONTACTS} contacts`;
      throw new CallwayError('conflict', 'campaign_full', message);
    }
    const at = new Date(this.#deps.clock.now()).toISOString();
    const added = await campaignContacts.add(id, contacts, at);
    return rows.flatMap((row, index) => {
      const result =
        'contact' in row && !added.has(row.contact.toNumber) ? duplicate(row.contact.toNumber) : row;
      return 'contact' in result ? [] : { index, code: result.code, message: result.message };
    });
  }

  /**
   * Starts, pauses, resumes or cancels a campaign, in a transaction that has locked it.
   *
   * @throws {CallwayError} 409 `campaign_state`, `campaign_not_startable`
   */
  async change(stores: CampaignStores, campaign: Campaign, transition: Transition): Promise<Campaign> {
    const { from, to } = CHANGES[transition];
    if (!from.some((status) => status === campaign.status)) {
      throw wrongState(campaign, `does not ${transition}: only one that is ${from.join(' or ')} does`);
    }
    const nowMs = this.#deps.clock.now();
    if (transition === 'start') await this.#requireStartable(stores, campaign, nowMs);
    const now = new Date(nowMs).toISOString();
    const change = {
      status: to,
      statusReason: null,
      nextAt: to === 'running' ? now : null,
      recentOutcomes: to === 'running' ? '' : undefined,
      startedAt: transition === 'start' ? now : undefined,
      endedAt: to === 'canceled' ? now : undefined,
    };
    await stores.campaigns.update(campaign, change);
    const { nextAt: _next, ...fields } = change;
    return { ...campaign, ...omitUndefined(fields) };
  }

  /** Publishes the event of a committed transition, and wakes a node. */
  async announce(campaign: Campaign, transition: Transition): Promise<void> {
    this.#deps.liveEvents.publish(campaignEvent(CHANGES[transition].event, campaign));
    await this.wake(campaign);
  }

  /** Tells a node that a campaign may have something to do. Never rejects. */
  async wake({ id, status }: Campaign): Promise<void> {
    if (status === 'running') await this.#deps.wake(id);
  }

  async #requireStartable(stores: CampaignStores, campaign: Campaign, nowMs: number): Promise<void> {
    const { id, fromNumbers, counts } = campaign;
    const details: ErrorDetail[] = [];
    const refuse = (path: string, message: string) => details.push({ path, message });
    if (counts.pending + counts.waiting === 0) refuse('/contacts', 'It has no contacts to call');
    if (!(await mayPlaceCalls(stores, campaign))) {
      const numbers = fromNumbers.join(', ') || 'none';
      refuse('/fromNumbers', `None of its from numbers (${numbers}) is active and has an active trunk`);
    }
    const zones = await stores.dueContacts.allZones(id);
    const rules = hoursOf(campaign);
    if (zones.length > 0 && zones.every((one) => nextCallMs(campaign, rules, one, nowMs) === undefined)) {
      const { endAt } = campaign.schedule;
      const before = endAt === null ? '' : ' before its end';
      refuse(
        '/schedule',
        endAt !== null && Date.parse(endAt) <= nowMs
          ? 'Its end has passed'
          : `No hour${before} is open: its windows and the calling hours have none in common`,
      );
    }
    const [first] = details;
    if (!first) return;
    const message = `The campaign cannot start: ${details.map((one) => one.message).join('; ')}`;
    throw new CallwayError('conflict', 'campaign_not_startable', message, { details });
  }

  /**
   * Skips a contact, in a transaction that has locked the campaign. One that is being called is not called again.
   *
   * @returns False where there is none.
   */
  async removeContact(
    { campaigns, campaignContacts }: ListStores,
    campaign: Campaign,
    contactId: string,
  ): Promise<boolean> {
    const contact = await campaignContacts.find(campaign.id, contactId, 'for update');
    if (!contact) return false;
    const { status } = contact;
    if (isOver(campaign) || status === 'done' || status === 'skipped') return true;
    const removed = { ...contact, skipReason: 'removed' as const };
    if (status === 'calling') await campaignContacts.update(removed, contact);
    else await campaignContacts.update({ ...removed, status: 'skipped', notBefore: null }, contact);
    // It may have been the last one.
    if (campaign.status === 'running')
      await campaigns.update(campaign, { nextAt: new Date(this.#deps.clock.now()).toISOString() });
    return true;
  }
}

/** Tells whether one of its from numbers is active and has an active trunk. */
async function mayPlaceCalls(
  { phoneNumbers, trunks }: CampaignStores,
  { projectId, fromNumbers }: Campaign,
): Promise<boolean> {
  const active = await trunks.activeOf(projectId);
  for (const from of fromNumbers) {
    const number = await phoneNumbers.findByNumber(projectId, from);
    if (number?.outboundStatus === 'active' && candidateTrunks(number, active).length > 0) return true;
  }
  return false;
}

/** @throws {CallwayError} 404 `campaign_not_found` */
export function requireCampaign(campaign: Campaign | undefined): Campaign {
  if (campaign) return campaign;
  throw new CallwayError('not_found', 'campaign_not_found', 'Campaign not found');
}

/** @param but - What it does not do, as "takes no more contacts". */
export function wrongState({ status }: Campaign, but: string): CallwayError {
  return new CallwayError('conflict', 'campaign_state', `A campaign that is ${status} ${but}`);
}
