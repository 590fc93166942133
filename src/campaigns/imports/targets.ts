import type { DoNotCallStore, ListOwner } from '../../calls/numbers/doNotCall.ts';
import type { Campaign } from '../campaign.ts';
import type { CampaignStore, ContactStore } from '../campaignStore.ts';
import type { Campaigns } from '../campaigns.ts';
import { listNumberReader } from '../listNumber.ts';
import { invalidNumber, missingNumber } from '../readRows.ts';
import type { ImportTarget } from './importWork.ts';

/** The stores that targets write. */
interface TargetStores {
  readonly campaigns: CampaignStore;
  readonly campaignContacts: ContactStore;
  readonly doNotCall: DoNotCallStore;
}

/** Adds the rows of a list to a campaign. */
export function campaignTarget(campaigns: Campaigns, campaign: Campaign): ImportTarget<TargetStores> {
  return {
    async prepare(given) {
      const contacts = given.flatMap((row) => ('contact' in row ? row.contact : []));
      const read = await campaigns.read(campaign, contacts);
      let next = 0;
      const rows = given.flatMap((row) => ('code' in row ? row : (read[next++] ?? [])));
      return (stores) => campaigns.add(stores, campaign, rows);
    },
  };
}

/**
 * Adds the numbers of a list to a do-not-call list.
 *
 * @param fromNumber - A number of the project, in whose country national numbers are read.
 */
export function doNotCallTarget(
  owner: ListOwner,
  fromNumber: string | undefined,
  now: () => string,
): ImportTarget<TargetStores> {
  const readNumber = listNumberReader(fromNumber);
  return {
    async prepare(given) {
      const numbers: string[] = [];
      const skipped = given.flatMap((row, index) => {
        if ('code' in row) return [{ index, ...row }];
        const text = row.contact.toNumber?.trim() ?? '';
        const number = text === '' ? undefined : readNumber(text);
        if (number !== undefined) numbers.push(number);
        else return [{ index, ...(text === '' ? missingNumber() : invalidNumber(text, fromNumber)) }];
        return [];
      });
      return async ({ doNotCall }) => {
        if (numbers.length > 0) await doNotCall.add(owner, numbers, { source: 'file', at: now() });
        return skipped;
      };
    },
  };
}
