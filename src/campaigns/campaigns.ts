import { CallwayError } from '../base/errors.ts';
import type { MakeId } from '../base/values/ids.ts';
import { type Campaign, isOver } from './campaign.ts';
import type { CampaignStore, ContactStore } from './campaignStore.ts';
import type { ContactInput, SkippedRow } from './contact.ts';
import { duplicate, type ReadRow, readRows } from './readRows.ts';

/** The most contacts of a campaign. */
const MAX_CONTACTS = 1_000_000;

export interface CampaignsDeps {
  /** Returns a check of the destinations that a project may call. @see readRows */
  readonly destinations: (projectId: string) => Promise<(toNumber: string) => string | undefined>;
  readonly clock: { now(): number };
  readonly makeId: MakeId;
}

/** The stores of a transaction. */
interface CampaignStores {
  readonly campaigns: CampaignStore;
  readonly campaignContacts: ContactStore;
}

/** Changes campaigns, and adds contacts. */
export class Campaigns {
  readonly #deps: CampaignsDeps;

  constructor(deps: CampaignsDeps) {
    this.#deps = deps;
  }

  /** Reads rows of a list, before the transaction that adds them. @returns A result for each row, in order. */
  async read(campaign: Campaign, rows: readonly ContactInput[]): Promise<ReadRow[]> {
    const { destinations, makeId } = this.#deps;
    const refusalOf = await destinations(campaign.projectId);
    return await readRows({ refusalOf, listed: async () => new Set(), makeId }, campaign, rows);
  }

  /**
   * Adds the contacts of rows that were read, in a transaction. Rows whose number the campaign has already are skipped.
   *
   * @returns The rows that were not taken.
   * @throws {CallwayError} 409 `campaign_state`, `campaign_full`; 404 where the campaign was removed meanwhile.
   */
  async add(
    { campaigns, campaignContacts }: CampaignStores,
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
   * Skips a contact, in a transaction that has locked the campaign. One that is being called is not called again.
   *
   * @returns False where there is none.
   */
  async removeContact(
    { campaigns, campaignContacts }: CampaignStores,
    campaign: Campaign,
    contactId: string,
  ): Promise<boolean> {
    const contact = await campaignContacts.find(campaign.id, contactId, 'for update');
    if (!contact) return false;
    const { status } = contact;
    if (isOver(campaign) || status === 'done' || status === 'skipped') return true;
    const removed = { ...contact, skipReason: 'removed' as const };
    if (status === 'calling') await campaignContacts.update(removed, status);
    else await campaignContacts.update({ ...removed, status: 'skipped', notBefore: null }, status);
    // It may have been the last one.
    if (campaign.status === 'running')
      await campaigns.update(campaign.id, { nextAt: new Date(this.#deps.clock.now()).toISOString() });
    return true;
  }
}

/** @throws {CallwayError} 404 `campaign_not_found` */
export function requireCampaign(campaign: Campaign | undefined): Campaign {
  if (campaign) return campaign;
  throw new CallwayError('not_found', 'campaign_not_found', 'Campaign not found');
}

/** @param but - What it does not do, to go on after "a running campaign". */
export function wrongState({ status }: Campaign, but: string): CallwayError {
  return new CallwayError('conflict', 'campaign_state', `A campaign that is ${status} ${but}`);
}
