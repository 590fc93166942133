import type { Page, PageOf } from '../base/values/page.ts';
import type { Campaign, CampaignSettings } from './campaign.ts';
import type { Contact, ContactOutcome, ContactStatus } from './contact.ts';

/** What a change of a campaign sets; its counts change with its contacts. */
export type CampaignChange = Partial<
  Omit<
    Campaign,
    keyof CampaignSettings | 'id' | 'projectId' | 'counts' | 'placed' | 'pacedAt' | 'createdAt'
  > & {
    readonly settings: CampaignSettings;
    /** When its next step is due; null for none. */
    readonly nextAt: string | null;
  }
>;

export interface CampaignStore {
  insert(campaign: Campaign): Promise<void>;
  /** @param lock - Blocks other writers, also of its contacts' counts, until the transaction ends. */
  find(projectId: string, id: string, lock?: 'for update'): Promise<Campaign | undefined>;
  list(projectId: string, page: Page): Promise<PageOf<Campaign>>;
  update(id: string, change: CampaignChange): Promise<void>;
  /** Removes the contacts of a campaign, a bounded number in each transaction. */
  removeContacts(id: string): Promise<void>;
  remove(projectId: string, id: string): Promise<boolean>;
}

export interface ContactFilter {
  /** Statuses in the store. @see storedStatuses */
  readonly status?: readonly ContactStatus[] | undefined;
  readonly outcome?: ContactOutcome | undefined;
  readonly externalId?: string | undefined;
  readonly toNumber?: string | undefined;
}

export interface ContactStore {
  /**
   * Adds pending contacts and counts them, in a transaction that has locked the campaign.
   *
   * @returns The numbers of those that it did not have yet.
   */
  add(campaignId: string, contacts: readonly Contact[], at: string): Promise<ReadonlySet<string>>;
  find(campaignId: string, id: string, lock?: 'for update'): Promise<Contact | undefined>;
  list(campaignId: string, filter: ContactFilter, page: Page): Promise<PageOf<Contact>>;
  /** Lists the names of the contacts' variables, sorted. */
  variableNames(campaignId: string, limit: number): Promise<string[]>;
  /** Stores a contact's status and attempts, and counts it. @param before - Its status until now. */
  update(contact: Contact, before: ContactStatus): Promise<void>;
}
