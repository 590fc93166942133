import type { Page, PageOf } from '../base/values/page.ts';
import type { Campaign, CampaignSettings, CampaignStatus } from './campaign.ts';
import type { Contact, ContactOutcome, ContactStatus } from './contact.ts';

/** What a change of a campaign sets; its counts change with its contacts. */
export interface CampaignChange {
  readonly name?: string | undefined;
  readonly description?: string | null | undefined;
  readonly status?: CampaignStatus | undefined;
  readonly statusReason?: string | null | undefined;
  readonly settings?: CampaignSettings | undefined;
  readonly placed?: number | undefined;
  readonly pacedAt?: string | undefined;
  readonly recentOutcomes?: string | undefined;
  /** When its next step is due, ISO 8601; null for none. */
  readonly nextAt?: string | null | undefined;
  readonly startedAt?: string | undefined;
  readonly endedAt?: string | undefined;
}

export interface CampaignStore {
  insert(campaign: Omit<Campaign, 'callingHours' | 'counts' | 'outcomes'>): Promise<Campaign>;
  /** @param lock - Blocks other writers, also of its contacts' counts, until the transaction ends. */
  find(projectId: string, id: string, lock?: 'for update'): Promise<Campaign | undefined>;
  list(projectId: string, page: Page): Promise<PageOf<Campaign>>;
  update(campaign: Campaign, change: CampaignChange): Promise<void>;
  /** Makes the running campaigns of a project due, since what decides when they call has changed. */
  makeDue(projectId: string, at: string): Promise<void>;
  /** Its contacts are removed later, by the housekeeping. */
  remove(projectId: string, id: string): Promise<boolean>;
}

export interface ContactFilter {
  /** Statuses in the store. @see storedStatuses */
  readonly status?: readonly ContactStatus[] | undefined;
  readonly outcome?: ContactOutcome | undefined;
  /** What the analysis of the last attempt's call says. */
  readonly disposition?: string | undefined;
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
  /**
   * Marks the end of a contact as announced.
   *
   * @returns The contact; undefined where its end was announced before, or this was not the call of its last attempt.
   */
  announce(contactId: string, callId: string): Promise<Contact | undefined>;
  /** Lists the names of the data that the analyses of the campaign's calls have, sorted. */
  dataNames(campaignId: string, limit: number): Promise<string[]>;
  /** Stores a contact's status and attempts, and counts it. @param before - The contact until now. */
  update(contact: Contact, before: Contact): Promise<void>;
}

/** Finds the contact that a campaign may call next. */
export interface DueContacts {
  /** Marks contacts as callable whose `notBefore` has come, a bounded number. */
  release(campaignId: string, now: string): Promise<void>;
  /** Returns the first `notBefore` of contacts that are called later, ISO 8601; null where there is none. */
  nextRelease(campaignId: string): Promise<string | null>;
  /** Returns the distinct zone lists of the contacts that are callable now. */
  zones(campaignId: string): Promise<(readonly string[])[]>;
  /** Returns the zones of all contacts that are still to be called. It reads all of them. */
  allZones(campaignId: string): Promise<(readonly string[])[]>;
  /** Returns the callable contact of these zones that comes first: by priority, then by arrival. */
  first(campaignId: string, open: readonly (readonly string[])[]): Promise<Contact | undefined>;
  /** Tells whether a file is being read into the campaign. */
  isImporting(campaignId: string): Promise<boolean>;
  /** Tells whether a call of the campaign has waited to be dialed since before then. */
  hasQueued(campaignId: string, before: string): Promise<boolean>;
}
