import type { Campaign, CampaignSettings } from '../../../campaigns/campaign.ts';
import type { CampaignChange, CampaignStore } from '../../../campaigns/campaignStore.ts';
import type { Parameter, Queryable } from '../connection/database.ts';
import { projectRows } from '../sql/projectRows.ts';
import { fieldsOf } from '../sql/rows.ts';
import { storableJson } from '../sql/storable.ts';

/** A campaign as its columns have it. */
type Stored = Omit<Campaign, keyof CampaignSettings | 'counts'> &
  Campaign['counts'] & { readonly settings: CampaignSettings };

const CAMPAIGN_COLUMNS = `id, project_id, name, description, status, status_reason, settings, pending, calling,
  waiting, done, skipped, placed::float8 AS placed, paced_at, recent_outcomes, created_at, started_at, ended_at`;
/** Contacts that one statement removes. */
const REMOVED_AT_ONCE = 5_000;

/** The columns that a change may set. */
const CHANGES: Readonly<Record<keyof CampaignChange, string>> = {
  name: 'name',
  description: 'description',
  status: 'status',
  statusReason: 'status_reason',
  settings: 'settings',
  recentOutcomes: 'recent_outcomes',
  nextAt: 'next_at',
  startedAt: 'started_at',
  endedAt: 'ended_at',
};

export function campaignStore(database: Queryable): CampaignStore {
  const rows = projectRows(database, 'campaigns', CAMPAIGN_COLUMNS, fromRow);
  return {
    find: rows.find,
    list: rows.list,
    remove: rows.remove,
    async insert({ id, projectId, name, description, status, createdAt, ...campaign }) {
      const columns = { id, project_id: projectId, name, description, status, created_at: createdAt };
      await rows.insert({ ...columns, settings: storableJson(settingsOf(campaign)) });
    },
    async update(id, change) {
      const fields = Object.entries(change) as [keyof CampaignChange, CampaignChange[keyof CampaignChange]][];
      if (fields.length === 0) return;
      const set = fields.map(([field], index) => `${CHANGES[field]} = $${index + 2}`).join(', ');
      const values = fields.map(([field, value]) =>
        field === 'settings' ? storableJson(value) : (value as Parameter),
      );
      await database.query(`UPDATE campaigns SET ${set} WHERE id = $1`, [id, ...values]);
    },
    async removeContacts(id) {
      const sql = `DELETE FROM campaign_contacts WHERE id IN (
        SELECT id FROM campaign_contacts WHERE campaign_id = $1 LIMIT ${REMOVED_AT_ONCE}) RETURNING 1`;
      while ((await database.query(sql, [id])).length > 0);
    },
  };
}

function fromRow(row: object): Campaign {
  const { settings, pending, calling, waiting, done, skipped, ...campaign } = fieldsOf<Stored>(row);
  return { ...settings, ...campaign, counts: { pending, calling, waiting, done, skipped } };
}

function settingsOf(campaign: CampaignSettings): CampaignSettings {
  const { fromNumbers, callerId, schedule, pacing, retry, variables, metadata, pauseWhen, keepOpen } =
    campaign;
  return { fromNumbers, callerId, schedule, pacing, retry, variables, metadata, pauseWhen, keepOpen };
}
